# Writes one Objective-C unit of the benchmark's stripped program:
#   awk -v seed=N -v prefix=NAME -f generate_objc.awk
# Classes and categories with some forty methods each, against no SDK: a root class of its own.
function pick(count)
{
    state = (state * 16807) % 2147483647
    return state % count
}

function selector(i)
{
    return word[i % words + 1] (i < words ? "Of:" : "Within:") (i % 7 ? "with:" : "and:")
}

function method(i,    part, n)
{
    split(selector(i), part, ":")
    printf "%s (long)%s:(long)a %s:(long)b\n{\n", i % 9 ? "-" : "+", part[1], part[2]
    if (i % 9 == 0) {
        printf "    return a * %d + (b ^ %d);\n}\n", pick(900), pick(900)
        return
    }
    for (n = 0; n < 3; n++)
        printf "    if (a %s value + %d)\n        b += [next %s:a + %d %s:(b >> %d) * value];\n",
               n % 2 ? ">" : "<", pick(900), part[1], pick(99), part[2], pick(9)
    printf "    value ^= a;\n    return b + value * %d;\n}\n", pick(99)
}

function declare(lo, hi,    i, part)
{
    for (i = lo; i < hi; i++) {
        split(selector(i), part, ":")
        printf "%s (long)%s:(long)a %s:(long)b;\n", i % 9 ? "-" : "+", part[1], part[2]
    }
    print "@end"
}

function define(lo, hi,    i)
{
    for (i = lo; i < hi; i++)
        method(i)
    print "@end"
}

BEGIN {
    state = seed * 7919 + 1
    words = split("alpha bound cost depth extent flags gain height index joint kind limit mass order phase " \
                  "quota rank scale time unit weight width yield zone access bridge colour damping edge " \
                  "focus grade hint inset join knob layer margin", word, " ")
    for (c = 0; c < 100; c++) {
        class = prefix "Controller" c
        many = 20 + pick(40)
        in_class = c % 3 ? many : 16
        printf "__attribute__((objc_root_class)) @interface %s {\n", class
        printf "    %s *next;\n    long value;\n}\n", class
        declare(0, in_class)
        printf "@interface %s (Extra)\n", class
        declare(in_class, many)
        printf "@implementation %s\n", class
        define(0, in_class)
        if (in_class < many) {
            printf "@implementation %s (Extra)\n", class
            define(in_class, many)
        }
    }
}
