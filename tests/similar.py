"""The measure of similar groups, written from the comments of report/tell/similar.c: makes reports whose stacks lie
near the threshold, and judges which of them `machsym crash --group --json` put into one family.

Usage: similar.py make FOLDER KIND SEED; similar.py judge FOLDER < the groups. KIND: apart: each pair of stacks has functions of its
own; common: all stacks share few functions, which so are common."""
import json, os, random, sys

THRESHOLD = 40
TOP, DECAY, COMMON, SHIFT = 1, 3 / 4, 4, 8
SIGNED = 5  # frames that a signature is of: stacks that begin with the same are one group


def weights(stack, head, heads):
    """Each frame weighs three quarters of the one above; one that every other family has weighs a fifth."""
    found, place = [], TOP
    for frame in stack:
        others = sum(frame in other for other in heads) - (frame in head) if heads else 0
        share = others / len(heads) if heads else 0
        found.append(place / (1 + COMMON * share))
        place *= DECAY
    return found


def similarity(a, b, heads):
    """Of 100: the best alignment by the weight of all. Equal frames that are aligned SHIFT steps apart count half."""
    wa, wb = weights(a, b, heads), weights(b, b, heads)
    best = {}
    for i in range(len(a) + 1):
        for k in range(len(b) + 1):
            ways = [0] if i == k == 0 else []
            if i:
                ways.append(best[i - 1, k] - wa[i - 1])
            if k:
                ways.append(best[i, k - 1] - wb[k - 1])
            if i and k:
                both = wa[i - 1] + wb[k - 1]
                steps = abs(i - k)
                ways.append(best[i - 1, k - 1] + (both / (1 + steps / SHIFT) if a[i - 1] == b[k - 1] else -both))
            best[i, k] = max(ways)
    return 100 * best[len(a), len(b)] / (sum(wa) + sum(wb))


def changed(rng, stack, fresh):
    """A stack like another: frames that are new, gone, or in another's place."""
    stack = list(stack)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(stack) + 1)
        kind = rng.randrange(4)
        if kind == 0 and len(stack) > 2:
            del stack[min(at, len(stack) - 1)]
        elif kind == 1:
            stack[at:at] = [fresh() for _ in range(rng.randrange(1, 5))]
        elif kind == 2:
            stack[:0] = [fresh() for _ in range(rng.randrange(1, 7))]
        else:
            stack[min(at, len(stack) - 1)] = fresh()
    return stack[:14]


def make_apart(rng):
    """Pairs within 1.5 of the threshold, as many above as below, each with a frame that moved."""
    stacks, number = [], 0

    def fresh():
        nonlocal number
        number += 1
        return "fn%dx" % number

    near = {True: 0, False: 0}
    while min(near.values()) < 60:
        first = [fresh() for _ in range(rng.randrange(2, 9))]
        second = changed(rng, first, fresh)
        likeness = similarity(second, first, [first])
        is_similar = likeness >= THRESHOLD
        if abs(likeness - THRESHOLD) < 1.5 and near[is_similar] < 60 and len(set(second)) == len(second):
            near[is_similar] += 1
            stacks += [first, second]
    return stacks


def make_common(rng):
    """Fewer stacks than heads are compared with, of few functions: each has some that many others have."""
    names = ["shared%dx" % i for i in range(16)]
    stacks = [rng.sample(names, rng.randrange(3, 7)) for _ in range(12)]
    stacks = [stack for n, stack in enumerate(stacks) if stack[:SIGNED] not in [other[:SIGNED] for other in stacks[:n]]]
    while len(stacks) < 60:
        stack = changed(rng, rng.choice(stacks), lambda: rng.choice(names))
        if len(set(stack)) == len(stack) and stack[:SIGNED] not in [other[:SIGNED] for other in stacks]:
            stacks.append(stack)
    return stacks


def write(folder, stacks):
    for number, stack in enumerate(stacks):
        with open("%s/%d.crash" % (folder, number), "w") as out:
            out.write("Process: App [1]\nVersion: 1.0\nDate/Time: 2026-03-01 10:00:00 +0100\nException Type: SIGABRT\n\nThread 0 Crashed:\n")
            out.writelines("%d   App 0x10%02d %s + 4\n" % (at, at, name) for at, name in enumerate(stack))
    with open(folder + "/stacks", "w") as out:
        json.dump(stacks, out)


def judge(folder):
    """A group finds its place the largest first, then by hash, among the heads there are by then."""
    with open(folder + "/stacks") as text:
        stacks = json.load(text)
    groups = {}
    for line in sys.stdin:
        row = json.loads(line)
        numbers = [int(os.path.basename(path)[:-6]) for path in row["reports"]]
        if len({tuple(stacks[n]) for n in numbers}) != 1:
            raise SystemExit("one group of two stacks: %s" % numbers)
        groups[row["hash"]] = (-row["count"], int(row["hash"], 16), stacks[numbers[0]], row["similar_to"])
    wrong = joined = alone = 0
    heads = {}
    for key in sorted(groups, key=lambda key: groups[key][:2]):
        stack, head = groups[key][2:]
        all_heads = list(heads.values())
        likeness = {k: similarity(stack, h, all_heads) for k, h in heads.items() if set(h) & set(stack)}
        most = max(likeness.values(), default=0)
        joined += head is not None
        alone += head is None
        if abs(most - THRESHOLD) < 0.01:
            pass  # whole numbers may round either way
        elif most < THRESHOLD and head is not None or most > THRESHOLD and head is None:
            wrong += 1
            print("%s: %.2f like a head, but %s" % (" ".join(stack), most, "in its family" if head else "alone"))
        elif head is not None and likeness[head] < most - 1.01:
            wrong += 1
            print("%s: %.2f like its head, %.2f like another" % (" ".join(stack), likeness[head], most))
        if head is None:
            heads[key] = stack
    if joined < 10 or alone < 10:
        wrong += 1
        print("%d groups have a head, %d stand alone: too few to judge" % (joined, alone))
    return wrong == 0


def stated():
    """The two figures of the comment in similar.c: the top frame lacks, and the top frames differ."""
    whole = ["a", "b", "c"]
    return int(similarity(whole[1:], whole, [whole])), int(similarity(["x", "b", "c"], whole, [whole]))


if __name__ == "__main__":
    if stated() != (42, 13):
        raise SystemExit("the comment of similar.c says 42 and 13, the formula %d and %d" % stated())
    if sys.argv[1] == "make":
        write(sys.argv[2], (make_apart if sys.argv[3] == "apart" else make_common)(random.Random(int(sys.argv[4]))))
    elif not judge(sys.argv[2]):
        sys.exit(1)
