/* A program of calls of every shape, for no system: it runs in an emulator, up to a write to address 0. */
#define FAR __attribute__((noinline))

volatile long sum;
long *volatile nowhere;
long (*volatile chosen)(long);

FAR void crash(long a)
{
    sum += a;
    *nowhere = a;
}

FAR long leaf(long a)
{
    return a * 3 + sum;
}

/* no frame pointer, if the compiler may leave it out */
FAR long small(long a)
{
    volatile long room[6];
    room[a & 3] = leaf(a);
    room[4] = leaf(room[a & 3] + 1);
    return room[4] + room[a & 3];
}

FAR long large(long a)
{
    volatile char room[9000];
    room[a & 511] = (char)small(a);
    return room[a & 511] + leaf(a);
}

FAR long open_ended(long a)
{
    volatile char room[(a & 63) + 1];
    room[0] = (char)leaf(a);
    return room[0] + large(a + 1);
}

/* many registers are kept */
FAR long many(long a, long b, long c, long d, long e, long f)
{
    long g = leaf(a), h = leaf(b), i = leaf(c), j = leaf(d), k = leaf(e);
    long l = open_ended(f);
    return a + b + c + d + e + f + g * h + i * j + k * l;
}

/* jumps to the last function */
FAR long jumps(long a)
{
    return small(a + leaf(a));
}

FAR long through(long a)
{
    return chosen(a + 1) + 1;
}

FAR long deep(long a)
{
    if (a == 0)
        return many(1, 2, 3, 4, 5, 6) + through(3);
    return deep(a - 1) + leaf(a);
}

/* equal pieces, which an outliner takes out */
FAR long first(long a)
{
    long b = small(a + 1), c = small(b + 2), d = small(c + 3);
    return b + c + d + small(a);
}

FAR long second(long a)
{
    long b = small(a + 1), c = small(b + 2), d = small(c + 3);
    return (b + c + d + small(a)) * 2;
}

/* ends with a call that does not come back */
FAR __attribute__((noreturn)) void stop(long a)
{
    crash(a);
    for (;;)
        ;
}

FAR void last(long a)
{
    leaf(a);
    stop(a);
}

int main(void)
{
    chosen = jumps;
    sum += deep(4) + first(1) + second(2);
    last(sum);
    return 0;
}
