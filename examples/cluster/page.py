"""The page: groups with their stacks and trends, and the dSYMs that are missing. Without scripts; all that comes from reports is escaped."""
import html
import json
import threading
import time
import zlib

import common
from common import SHARDS, key, stream

CSP = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
GROUPS = 50  # that the page shows
DAYS = 14  # that a trend shows
FRESH = 1  # seconds that what is known is kept
MIN_RISE = 10  # reports of a version below which nothing is called rising or gone

STYLE = """body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222 }
h1 { font-size: 1.4em } h2 { font-size: 1.1em; margin-top: 2em }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .3em .6em; border-bottom: 1px solid #ddd; vertical-align: top }
.number { text-align: right } .versions { white-space: nowrap } pre { margin: .5em 0; font-size: 13px; white-space: pre-wrap; background: #f6f6f6; padding: .6em }
.mark { border-radius: 3px; padding: 0 .4em; color: #fff; font-size: 12px } .new { background: #06c } .rising { background: #c60 }
.regressed { background: #c03 } rect { fill: #69c } .quiet { color: #777 } summary { cursor: pointer }
"""


def escape(text):
    return html.escape(str(text), quote=True)


class Page:
    def __init__(self, cluster):
        self.cluster = cluster
        self.lock = threading.Lock()
        self.made, self.last = -FRESH, None

    def result(self, report):
        """A result as it is kept, and what is known of it."""
        tag = common.shard_of(report)
        (state, packed), = self.cluster.run(stream(tag), [("HMGET", key("result", tag, report), "state", "result")])
        return {"id": report, **json.loads(state), **json.loads(zlib.decompress(packed))} if state else None

    # ---- What is known ----

    def ranked(self, kind, most):
        """Names with the sums of their scores in all shards, largest first. Reports are spread by their hash, so what is not among the first
        of any shard is not among the first of all."""
        sums = {}
        for tag in SHARDS:
            answer, = self.cluster.run(stream(tag), [("ZREVRANGE", "%s:{%s}" % (kind, tag), 0, 4 * most, "WITHSCORES")])
            for name, score in zip(answer[::2], answer[1::2]):
                sums[name.decode()] = sums.get(name.decode(), 0) + int(float(score))
        return sorted(sums.items(), key=lambda item: (-item[1], item[0]))

    def group(self, name):
        """A group's counts as {(program, version): {day: count}}, its title and a report of it."""
        parts, title, sample = {}, "", None
        for tag in SHARDS:
            counts, text, recent = self.cluster.run(stream(tag), [
                ("HGETALL", key("parts", tag, name)), ("GET", key("title", tag, name)), ("LINDEX", key("recent", tag, name), 0)])
            for part, count in zip(counts[::2], counts[1::2]):
                day, program, version = part.decode().split("\t")
                days = parts.setdefault((program, version), {})
                days[day] = days.get(day, 0) + int(count)
            title = text.decode() if text else title
            sample = recent.decode() if recent else sample
        return {"name": name, "parts": parts, "title": title, "sample": sample}

    def known(self):
        """The largest groups with what they are: new, rising or regressed; and the dSYMs that are wanted most."""
        ranked = self.ranked("groups", GROUPS)
        groups = [self.group(name) for name, _ in ranked[:GROUPS]]
        groups = [group for group in groups if group["parts"]]  # reports that are done again leave a group between two looks
        judge(groups)
        groups.sort(key=lambda group: (-group["count"], group["name"]))
        wanted = []
        for uuid, count in self.ranked("wanted", GROUPS)[:GROUPS]:
            names = [self.cluster.run(stream(tag), [("GET", key("image", tag, uuid))])[0] for tag in SHARDS]
            wanted.append((uuid, next((n.decode() for n in names if n), "?"), count))
        counts = [self.cluster.run(stream(tag), [("GET", "reports:{%s}" % tag)])[0] for tag in SHARDS]
        return {"groups": groups, "wanted": wanted, "reports": sum(int(count or 0) for count in counts)}

    # ---- HTML ----

    def known_lately(self):
        """What is known, at most a number of seconds old: reading it must not cost what reports need."""
        with self.lock:
            if time.monotonic() - self.made > FRESH:
                self.last, self.made = self.known(), time.monotonic()
            return self.last

    def json(self):
        """What is known, for programs."""
        known = self.known_lately()
        groups = [{**group, "parts": [{"program": p, "version": v, "days": days} for (p, v), days in group["parts"].items()]}
                  for group in known["groups"]]
        return {**known, "groups": groups}

    def html(self):
        return self.write(self.known_lately())

    def write(self, known):
        out = ["<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Crashes</title>",
               "<link rel=\"stylesheet\" href=\"/style.css\"><h1>Crashes</h1>",
               "<p>%d reports; the largest groups of them:</p>" % known["reports"],
               "<table><tr><th class=\"number\">Reports<th>Group<th>Versions<th>Last %d days" % DAYS]
        for i, group in enumerate(known["groups"]):
            out.append("<tr><td class=\"number\">%d<td>%s%s%s<td class=\"versions\">%s<td>%s" % (
                group["count"], "<span class=\"mark %s\">%s</span> " % ((group["mark"],) * 2) if group["mark"] else "",
                escape(group["title"] or "no frames of the app"), self.stack(group["sample"], " open" if i == 0 else ""),
                "<br>".join("%s %s: %d" % (escape(p), escape(v), sum(days.values())) for (p, v), days in group["parts"].items()),
                trend(group["parts"])))
        out.append("</table><h2>Missing dSYMs, most wanted first</h2>")
        if known["wanted"]:
            out.append("<table><tr><th>Image<th>UUID<th class=\"number\">Reports that wait")
            out += ["<tr><td>%s<td>%s<td class=\"number\">%d" % (escape(name), escape(uuid), count) for uuid, name, count in known["wanted"]]
            out.append("</table>")
        else:
            out.append("<p class=\"quiet\">None.</p>")
        return "\n".join(out) + "\n"

    def stack(self, report, opened):
        result = self.result(report) if report else None
        if not result or not result.get("reports"):
            return ""
        return "<details%s><summary class=\"quiet\">stack of <a href=\"/reports/%s\">%s</a></summary><pre>%s</pre></details>" % (
            opened, report, report, escape(result["reports"][0]["summary"]))


def judge(groups):
    """By version, in the order in which the versions of a program were seen first. New: only the newest one of several has it.
    Regressed: the newest one has it, the one before did not, an older one did. Rising: it has twice the share of the newest
    one's reports as of those of the one before. Versions with fewer than MIN_RISE reports tell nothing of what is not there."""
    totals, first = {}, {}
    for group in groups:
        for part, days in group["parts"].items():
            totals[part] = totals.get(part, 0) + sum(days.values())
            first[part] = min([*days, first.get(part, "9")])
    for group in groups:
        group["count"] = sum(sum(days.values()) for days in group["parts"].values())
        group["parts"] = dict(sorted(group["parts"].items(), key=lambda item: (first[item[0]], item[0])))
        group["mark"] = next(filter(None, (mark_of(group, program, totals, first) for program in {p for p, _ in group["parts"]})), None)


def mark_of(group, program, totals, first):
    versions = sorted((part for part in totals if part[0] == program), key=lambda part: (first[part], part))
    counts = [sum(group["parts"].get(part, {}).values()) for part in versions]
    known = [i for i in range(len(versions) - 1) if totals[versions[i]] >= MIN_RISE]
    if not counts[-1] or not known:
        return None
    if not any(counts[:-1]):
        return "new"
    before = known[-1]
    if not counts[before]:
        return "regressed"
    share, share_before = counts[-1] / totals[versions[-1]], counts[before] / totals[versions[before]]
    return "rising" if counts[-1] >= MIN_RISE and share >= 2 * share_before else None


def trend(parts):
    """Bars of the last days, as a picture in the page."""
    today = time.time()
    days = [time.strftime("%Y-%m-%d", time.gmtime(today - 86400 * i)) for i in range(DAYS - 1, -1, -1)]
    counts = [sum(by_day.get(day, 0) for by_day in parts.values()) for day in days]
    most = max(counts) or 1
    bars = "".join("<rect x=\"%d\" y=\"%d\" width=\"8\" height=\"%d\"><title>%s: %d</title></rect>" % (
        10 * i, 30 - round(30 * n / most), round(30 * n / most), day, n) for i, (day, n) in enumerate(zip(days, counts)) if n)
    return "<svg width=\"%d\" height=\"30\" role=\"img\">%s</svg>" % (10 * DAYS, bars)
