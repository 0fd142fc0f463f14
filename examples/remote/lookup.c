/* Answers from a symbol map on a web server without fetching it: machsym_open_desc.io asks for ranges of bytes over one
 * connection. A file's name in place of the URL answers from that file, for comparison.
 *     cc -I. examples/remote/lookup.c -o remote && ./remote http://localhost:8080/App.symmap 0x100000aec ... */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"

#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MAX_HEAD = 16384, MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1, TIMEOUT = 30 /* seconds */ };

/* A file on a web server. */
typedef struct remote {
    char host[256];
    char port[6];
    const char *path;
    int fd;                                 /* -1: not connected */
    unsigned char begin[MACHSYM_READ_HEAD]; /* which tells the size of the file, and is asked for first */
    size_t begin_len;
    unsigned long long size;
    unsigned long long requests;
    unsigned long long bytes; /* of bodies */
} remote;

/* What the head of a response says. */
typedef struct response {
    int status;
    unsigned long long first, last, total; /* Content-Range */
    unsigned long long length;             /* Content-Length */
    bool has_range, has_length, closes;
} response;

static bool complain(const char *what)
{
    fprintf(stderr, "remote: %s\n", what);
    return false;
}

/* http://HOST[:PORT]/PATH */
static bool take_url(remote *r, const char *url)
{
    const char *host = url + 7;
    size_t len = strcspn(host, ":/");
    size_t port_len = host[len] == ':' ? strcspn(host + len + 1, "/") : 0;
    if (len == 0 || len >= sizeof r->host || port_len >= sizeof r->port)
        return complain("the URL is not http://HOST[:PORT]/PATH");
    memcpy(r->host, host, len);
    strcpy(r->port, "80");
    if (port_len != 0) {
        memcpy(r->port, host + len + 1, port_len);
        r->port[port_len] = 0;
    }
    r->path = strchr(host, '/') != NULL ? strchr(host, '/') : "/";
    r->fd = -1;
    return strpbrk(url, " \r\n") == NULL || complain("the URL has a space");
}

static bool connect_to(remote *r)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all;
    struct timeval limit = {TIMEOUT, 0};
    if (getaddrinfo(r->host, r->port, &hints, &all) != 0)
        return complain("the host is not known");
    for (struct addrinfo *one = all; one != NULL && r->fd < 0; one = one->ai_next) {
        r->fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (r->fd >= 0 && connect(r->fd, one->ai_addr, one->ai_addrlen) != 0) {
            close(r->fd);
            r->fd = -1;
        }
    }
    freeaddrinfo(all);
    if (r->fd < 0)
        return complain("the server does not take connections");
    setsockopt(r->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return true;
}

static void hang_up(remote *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

/* Sends the request for the bytes from first to last. */
static bool ask(remote *r, unsigned long long first, unsigned long long last)
{
    char text[2048];
    int len = snprintf(
        text, sizeof text,
        "GET %s HTTP/1.1\r\nHost: %s:%s\r\nRange: bytes=%llu-%llu\r\nAccept-Encoding: identity\r\n\r\n",
        r->path, r->host, r->port, first, last);
    if (len < 0 || (size_t)len >= sizeof text)
        return complain("the URL is too long");
    r->requests++;
    for (ssize_t done = 0, put; done < len; done += put) {
        put = send(r->fd, text + done, (size_t)(len - done), MSG_NOSIGNAL);
        if (put <= 0)
            return false;
    }
    return true;
}

/* Receives the head, and what came of the body with it, into text, which it ends with a NUL after the head.
 * Returns where the body begins; 0 when there is none. */
static size_t receive_head(remote *r, char *text, size_t *len)
{
    *len = 0;
    while (*len < MAX_HEAD) {
        ssize_t got = recv(r->fd, text + *len, MAX_HEAD - *len, 0);
        if (got <= 0)
            return 0;
        size_t from = *len > 3 ? *len - 3 : 0;
        *len += (size_t)got;
        for (size_t i = from; i + 4 <= *len; i++) {
            if (memcmp(text + i, "\r\n\r\n", 4) == 0) {
                text[i + 2] = 0;
                return i + 4;
            }
        }
    }
    return 0;
}

static response read_head(const char *text)
{
    response head = {0};
    sscanf(text, "HTTP/1.%*1d %3d", &head.status);
    for (const char *line = strstr(text, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, "Content-Length:", 15) == 0)
            head.has_length = sscanf(line + 15, "%llu", &head.length) == 1;
        else if (strncasecmp(line, "Content-Range:", 14) == 0)
            head.has_range =
                sscanf(line + 14, " bytes %llu-%llu/%llu", &head.first, &head.last, &head.total) == 3;
        else if (strncasecmp(line, "Connection: close", 17) == 0)
            head.closes = true;
    }
    return head;
}

/* Whether the response has the range that was asked for; the file may end before last when its size is not known. */
static bool fits(const remote *r, const response *head, unsigned long long first, unsigned long long last)
{
    if (head->status == 200)
        return complain("the server ignores ranges: it sends the whole file (status 200)");
    if (head->status != 206) {
        fprintf(stderr, "remote: the server answers with status %d, not 206\n", head->status);
        return false;
    }
    if (!head->has_range || !head->has_length)
        return complain("the response lacks Content-Range or Content-Length");
    if (r->size == 0 && head->total != 0 && last >= head->total)
        last = head->total - 1;
    if (head->first != first || head->last != last || head->length != last - first + 1)
        return complain("the server sends another range than the one asked for");
    if (r->size != 0 && head->total != r->size)
        return complain("the file has another size than before");
    return true;
}

/* Asks for the bytes from first to last once. Returns how many came; *is_idle: the server had hung up before. */
static size_t fetch_once(remote *r, unsigned long long first, unsigned long long last, unsigned char *out,
                         bool *is_idle)
{
    static char text[MAX_HEAD];
    size_t len = 0;
    bool was_open = r->fd >= 0;
    *is_idle = false;
    if (!was_open && !connect_to(r))
        return 0;
    size_t body = ask(r, first, last) ? receive_head(r, text, &len) : 0;
    *is_idle = was_open && body == 0 && len == 0;
    if (body == 0)
        return *is_idle || complain("no response from the server") ? 0 : 0;
    response head = read_head(text);
    if (!fits(r, &head, first, last))
        return 0;
    size_t done = len - body < head.length ? len - body : (size_t)head.length;
    memcpy(out, text + body, done);
    while (done < head.length) {
        ssize_t got = recv(r->fd, out + done, (size_t)head.length - done, 0);
        if (got <= 0) {
            complain("the response is cut short");
            return done;
        }
        done += (size_t)got;
    }
    r->size = head.total;
    r->bytes += done;
    if (head.closes)
        hang_up(r);
    return done;
}

/* Asks for bytes. A connection on which something went wrong is not used again. */
static size_t fetch(remote *r, unsigned long long first, size_t len, unsigned char *out)
{
    bool is_idle;
    size_t got = fetch_once(r, first, first + len - 1, out, &is_idle);
    if (is_idle) {
        hang_up(r);
        got = fetch_once(r, first, first + len - 1, out, &is_idle);
    }
    if (got < len)
        hang_up(r);
    return got;
}

/* machsym_open_desc.io. */
static size_t read_remote(void *user, uint64_t offset, void *out, size_t len)
{
    remote *r = user;
    if (offset == 0 && len <= r->begin_len) {
        memcpy(out, r->begin, len);
        return len;
    }
    return fetch(r, offset, len, out);
}

static void print_text(machsym_str text)
{
    printf("%.*s", (int)text.len, text.ptr);
}

static void print_frames(machsym_session *session, uint64_t addr)
{
    machsym_frame frames[MAX_FRAMES];
    size_t count = machsym_session_frames_at_addr(session, addr, frames, MAX_FRAMES);
    for (size_t i = 0; i < count && i < MAX_FRAMES; i++) {
        char path[4096];
        printf("0x%llx ", (unsigned long long)addr);
        print_text(frames[i].name.len != 0 ? frames[i].name : frames[i].linkage_name);
        machsym_path_join(&frames[i].file, path, sizeof path);
        printf(" %s:%u%s\n", path, (unsigned)frames[i].line, frames[i].is_inline ? " (inlined)" : "");
        if (frames[i].lacks_callers)
            printf("  (callers left out)\n");
    }
    if (count == 0)
        printf("0x%llx ?\n", (unsigned long long)addr);
}

int main(int argc, char **argv)
{
    static remote r;
    machsym_open_desc desc = {0};
    machsym_session_desc how = {0};
    machsym_io_stats reads;
    machsym_image *image;
    machsym_session *session;
    machsym_error err;
    if (argc < 3) {
        fprintf(stderr, "usage: remote http://HOST[:PORT]/PATH|FILE ADDRESS ...\n");
        return 2;
    }
    desc.path = argv[1];
    desc.flags = MACHSYM_OPEN_BY_PAGES;
    if (strncmp(argv[1], "http://", 7) == 0) {
        if (!take_url(&r, argv[1]))
            return 2;
        r.begin_len = fetch(&r, 0, sizeof r.begin, r.begin);
        if (r.begin_len == 0)
            return 1;
        desc.io = (machsym_io){read_remote, &r, r.size};
    }
    if (machsym_image_open(&desc, &image, &err) != MACHSYM_OK) {
        fprintf(stderr, "remote: %s: %s\n", argv[1], err.what);
        return 1;
    }
    how.image = image;
    if (machsym_session_open(&how, &session, &err) != MACHSYM_OK)
        return 1;
    for (int i = 2; i < argc; i++)
        print_frames(session, strtoull(argv[i], NULL, 16));
    machsym_session_get_io_stats(session, &reads);
    if (r.size != 0)
        fprintf(stderr, "%llu requests, %llu of %llu bytes\n", r.requests, r.bytes, r.size);
    if (reads.lost != 0)
        fprintf(stderr, "remote: %llu pieces of the map are damaged or could not be read\n",
                (unsigned long long)reads.lost);
    machsym_session_close(session);
    machsym_image_close(image);
    hang_up(&r);
    return reads.lost != 0;
}
