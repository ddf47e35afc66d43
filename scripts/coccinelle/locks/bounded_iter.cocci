// SPDX-License-Identifier: GPL-2.0
/// Find list walks with interrupts off or under a spinlock that nothing bounds,
/// and bounds by hand that bounded_iter could replace.
//# The lock may be taken by callers in the same file, however far up. Whether the
//# list can be long is for the reader to say, and so is what it means to cut its
//# walk short: see Documentation/core-api/bounded_iter.rst. The kinds are
//#	unbounded	no bound, and the lock is not dropped on the way
//#	passed		a path through the loop goes past its bound or drop
//#	count		the bound is a constant number of items
//#	clock		the bound is an open-coded look at a clock
///
// Confidence: Moderate
// Comments: do-while and goto loops, locks taken in other files, by wrappers or
//	guards, and calls through pointers are not seen.
// Options: --no-includes --include-headers

virtual report
virtual org

@initialize:python@
@@
import re

WALKER = re.compile(r"(h|p|k)?list(_bl|_nulls)?_(for_each|walk)|sk_(nulls_)?for_each|skb_queue_(reverse_)?walk|"
                    r"hash_for_each|rbtree_postorder_for_each|xas?_for_each|radix_tree_for_each|idr_for_each|"
                    r"(do|for)_each_(process|thread)")
LIST = re.compile(r"\b\w*list_(empty|first|last|is_|next|prev|entry_is_head)\w*|\b_*skb_(dequeue|peek)\w*|"
                  r"\bskb_queue_empty\b|\blru_to_folio\b|\b(rb|plist)_(first|last|next|prev)\w*|-> (next|prev)\b")
TAKE = re.compile(r"\b\w*list_(del|move)\w*|\b__skb_unlink\b|\brb_erase\w*")
CLOCK = re.compile(r"\b(local_clock\w*|sched_clock|cpu_clock|ktime_get\w*|get_jiffies_64|jiffies|time_(before|after)\w*)\b")
TOUCH = re.compile(r"^(bounded_iter_expired\w*|local_clock\w*|sched_clock|cpu_clock|ktime_get\w*|get_jiffies_64|"
                   r"need_resched|(spin|rwlock)_needbreak|time_(before|after)\w*|cond_resched\w*lock\w*|local_irq_enable)$")
DROP = re.compile(r"cond_resched\w*lock|local_irq_enable$")
RELEASE = re.compile(r"\w*unlock|local_irq_(enable|restore)$")
COUNTER = re.compile(r"(?<!-> )(?<!\. )\b(\w+) (?:\+\+|--|[-+]= )|(?:\+\+|--) ?(\w+)\b(?! (?:->|\.|\[))")
LEAVE = re.compile(r"\b(break|goto|return)\b")
BIG = 1000


class Loop:
    def __init__(self, p, head, condition, step, body):
        self.at = p[0]
        self.name = p[0].current_element
        self.text = " ".join((condition, step, body))
        self.condition = condition
        self.step = step
        self.is_walk = bool(WALKER.match(head)) or is_open_coded(head, condition, step, body)
        self.limits = limits(condition, body)
        self.has_clock = looks_at_clock(condition, body)
        self.body_passed = set()
        self.head_passed = set()
        self.has_head = False
        self.drops = dropped(body)

    # Whether the next turn is reached without the counter, or "" for all else.
    def goes_past(self, what):
        if what:
            always = what in counters(self.condition) or re.search(r"\b%s\b" % what, self.step)
        else:
            always = any(TOUCH.match(name) for name in re.findall(r"\w+", self.condition))
        return not always and what in self.body_passed and (what in self.head_passed or not self.has_head)


def is_open_coded(head, condition, step, body):
    if head not in ("while", "for"):
        return False
    if LIST.search(condition) or LIST.search(step):
        return True
    if condition in ("1", "true", ""):
        return bool(LIST.search(body) and TAKE.search(body))
    variable = re.match(r"\w+$", condition)
    return bool(variable and re.search(r"\b%s = %s -> \w*(next|prev)\b" % (condition, condition), body))


# The text from the bracket at text[start] to the one that closes it.
def bracketed(text, start, pair):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return text[start:i + 1]
    return text[start:]


# The text without the loops in it, whose counters and breaks are their own.
def without_loops(body):
    while True:
        found = re.search(r"\b(while|for|\w*for_each\w*) \(", body)
        if not found:
            return body
        head = bracketed(body, found.end() - 1, "()")
        rest = body[found.end() - 1 + len(head):].lstrip()
        inner = bracketed(rest, 0, "{}") if rest.startswith("{") else rest.split(";")[0]
        body = body[:found.start()] + rest[len(inner):]


# The conditions on which the loop is left: its own, and those of what breaks out.
def ways_out(condition, body):
    yield condition
    for found in re.finditer(r"\bif \(", body):
        test = bracketed(body, found.end() - 1, "()")
        then = body[found.end() - 1 + len(test):].lstrip()
        then = bracketed(then, 0, "{}") if then.startswith("{") else then.split(";")[0]
        if LEAVE.search(then):
            yield test


def counters(text):
    return {before or after for before, after in COUNTER.findall(text)}


# Whether it is left when a time has come, and not an item's.
def looks_at_clock(condition, body):
    terms = re.split(r"&&|\|\|", " && ".join(ways_out(condition, body)))
    return any(CLOCK.search(term) and "->" not in term for term in terms)


# The counters that can end the loop, and what they are compared with: "" if that
# is not a constant.
def limits(condition, body):
    found = {}
    counters = {a or b for a, b in COUNTER.findall(condition + " " + body)}
    counters -= set(re.findall(r"\b(\w+) = ", body))
    for test in ways_out(condition, body):
        for name in counters.intersection(re.findall(r"(?<!-> )(?<!\. )\b\w+", test)):
            limit = re.search(r"\b%s(?: \+\+| --)? (?:[<>]=?|[!=]=) ([0-9]\w*|[A-Z][A-Z0-9_]+)\b" % name, test)
            if name not in found or limit:
                found[name] = limit.group(1) if limit else ""
    return found


# The locks that are dropped in the text and then taken again.
def dropped(body):
    found = set()
    for unlock in re.finditer(r"\b\w*(?:unlock|local_irq)_?\w* \( ([^,()]*(?:\([^()]*\)[^,()]*)*)", body):
        lock = re.compile(r"(?<!un)lock\w* \( " + re.escape(unlock.group(1)))
        if not lock.search(body[:unlock.start()]) and lock.search(body[unlock.end():]):
            found.add(unlock.group(1).strip())
    return found


def reset():
    global loops, heads, functions, calls, sites, releases, held, entered, drops, droppers, lockers
    loops = {}       # by position
    heads = {}       # position of an expression in a loop's head -> loop
    functions = set()
    calls = set()    # (caller, callee)
    sites = {}       # position of a call -> (caller, callee)
    releases = {}    # function -> position of its first unlock
    held = []        # (function, position of the loop or name of the callee, lock)
    entered = set()  # (function, position of the loop or name of the callee)
    drops = set()    # positions of unlocks that a loop takes back
    droppers = set() # functions that drop a lock of their caller's
    lockers = set()  # functions that take a lock


def place(p):
    return (p[0].line, p[0].column)


def note_loop(p, head, condition, step, body, inside=None):
    loop = Loop(p, head, condition, step, body)
    loops[place(p)] = loop
    if inside:
        loop.has_head = True
        heads[place(inside)] = loop


def is_walk(p):
    return place(p) in loops and loops[place(p)].is_walk


def is_suspect(p):
    return place(p) in suspects


def is_suspect_head(p):
    return place(p) in heads and heads[place(p)] in suspects.values()


def is_counted(p):
    return is_suspect(p) and bool(suspects[place(p)].limits)


def is_counted_head(p):
    return is_suspect_head(p) and bool(heads[place(p)].limits)


def is_function(name):
    return name in functions


def is_drop(p):
    return place(p) in drops


def may_drop(name):
    return bool(RELEASE.match(name)) and any(loop.drops for loop in suspects.values())


def is_release(name):
    return bool(RELEASE.match(name)) or name in droppers


def is_touch(name):
    return bool(TOUCH.match(name)) or name in droppers


def is_dropper(name):
    return name in droppers


def is_counter(name):
    return any(name in loop.limits for loop in suspects.values())


# The functions that walk a list, or call one that does.
def find_hot():
    global hot
    hot = {loop.name for loop in loops.values() if loop.is_walk}
    grown = True
    while grown:
        more = {caller for caller, callee in calls if callee in hot}
        grown = not more <= hot
        hot |= more


def is_hot(name):
    return name in hot and name in functions


# The functions that are called with a lock held, or by one that is; and what they
# reach before their first unlock. For what comes after it the paths matter.
def find_below():
    global late
    late = set()
    below = {target for _, target, _ in held if target in functions}
    grown = True
    while grown:
        more = {callee for caller, callee in calls if caller in below}
        grown = not more <= below
        below |= more
    targets = [(at, loop.name, at) for at, loop in loops.items() if loop.is_walk]
    targets += [(at, caller, callee) for at, (caller, callee) in sites.items() if callee in hot]
    for at, function, target in targets:
        if function in below and function in releases and order(at) > releases[function]:
            late.add((function, at))
        elif function in below:
            entered.add((function, target))


def order(at):
    return (int(at[0]), int(at[1]))


def is_late(p):
    return (p[0].current_element, place(p)) in late


def has_late(name):
    return any(function == name for function, _ in late)


def find_droppers():
    grown = True
    while grown:
        more = {a for a, b in calls if b in droppers and a not in lockers}
        grown = not more <= droppers
        droppers.update(more)


def tidy(text):
    return re.sub(r" ?(->|\.|\[|\]|\(|\)) ?", r"\1", text).replace("& ", "&").replace(" , ", ", ")


# By whom each walk is entered with which locks, followed to a fixed point: from
# the functions that lock to those they call before they unlock.
def find_suspects():
    global suspects, locked
    locked = {}
    work = [(target, lock) for _, target, lock in held]
    while work:
        target, lock = work.pop()
        if lock in locked.setdefault(target, []):
            continue
        locked[target].append(lock)
        work += [(inner, lock) for function, inner in entered if function == target]
    suspects = {at: loop for at, loop in loops.items() if loop.is_walk and at in locked}


def drops_lock(loop):
    calls = re.findall(r"(\w+) \(", loop.text)
    return bool(loop.drops) or any(is_dropper(name) or DROP.match(name) for name in calls)


def kind_of(loop):
    helper = "bounded_iter_expired" in loop.text
    kept = [name for name in loop.limits if not loop.goes_past(name)]
    bounded = helper or loop.has_clock or drops_lock(loop) or "need_resched (" in loop.text
    if bounded and not loop.goes_past(""):
        return "clock" if loop.has_clock and not helper and not drops_lock(loop) else None
    if loop.has_clock:
        return "clock"
    if kept:
        return "count" if all(is_big(loop.limits[name]) for name in kept) else None
    return "passed" if bounded or loop.limits else "unbounded"


def is_big(limit):
    try:
        return int(limit.rstrip("uUlL"), 0) >= BIG
    except ValueError:
        return bool(limit)


# Interrupts off first, then what is taken nearest.
def worst(locks, name):
    return min(locks, key=lambda lock: ("irq" not in lock[0], lock[2] != name, lock))


def findings():
    for at, loop in sorted(suspects.items(), key=lambda item: order(item[0])):
        kind = kind_of(loop)
        if not kind:
            continue
        name, argument, function, line = worst(locked[at], loop.name)
        where = "" if function == loop.name else " of %s():%s" % (function, line)
        yield loop, "%s walk in %s() under %s(%s)%s" % (kind, loop.name, name, tidy(argument), where)


@script:python@
@@
reset()

// ----------------------------------------------------------------------------
// The functions, what they call, and the loops.

@fn@
identifier f;
@@
f(...) { ... }

@script:python@
f << fn.f;
@@
functions.add(f)

@call@
identifier f : script:python() { is_function(f) };
position p;
@@
f@p(...)

@script:python@
p << call.p;
f << call.f;
@@
calls.add((p[0].current_element, f))
sites[place(p)] = (p[0].current_element, f)

@iterate@
iterator I;
expression E;
statement S;
position p, pe;
@@
I@p(E@pe,...) S

@script:python@
p << iterate.p;
pe << iterate.pe;
I << iterate.I;
S << iterate.S;
@@
note_loop(p, I, "", "", S, pe)

@while_loop@
expression E;
statement S;
position p, pe;
@@
while@p (E@pe) S

@script:python@
p << while_loop.p;
pe << while_loop.pe;
E << while_loop.E;
S << while_loop.S;
@@
note_loop(p, "while", E, "", S, pe)

@for_ever@
statement S;
position p;
@@
for@p (;;) S

@script:python@
p << for_ever.p;
S << for_ever.S;
@@
note_loop(p, "for", "", "", S)

@for_while@
expression E;
statement S;
position p, pe;
@@
for@p (...;E@pe;...) S

@script:python@
p << for_while.p;
pe << for_while.pe;
E << for_while.E;
S << for_while.S;
@@
note_loop(p, "for", E, "", S, pe)

@for_step@
expression E, step;
statement S;
position p, pe;
@@
for@p (...;E@pe;step) S

@script:python@
p << for_step.p;
pe << for_step.pe;
E << for_step.E;
step << for_step.step;
S << for_step.S;
@@
note_loop(p, "for", E, step, S, pe)

@script:python@
@@
find_hot()

// ----------------------------------------------------------------------------
// Who drops a lock of its caller's.

@locker@
identifier lk =~ "^((raw_)?(spin|write)_(try)?lock(_bh|_irq|_irqsave|(_irqsave)?_nested|_nest_lock)?|read_lock_irq(save)?|xas?_lock(_bh|_irq|_irqsave)?)$";
position p;
@@
lk@p(...)

@script:python@
p << locker.p;
@@
lockers.add(p[0].current_element)

@dropper exists@
identifier f;
identifier lk =~ "^((raw_)?(spin|write)_(try)?lock|read_lock_irq|xas?_lock)";
identifier ul =~ "^((raw_)?(spin|write)_unlock|read_unlock_irq|xas?_unlock)";
expression F;
position p;
@@
f(...) {
... when != lk(F,...)
ul@p(F,...)
... when any
}

@script:python@
f << dropper.f;
@@
droppers.add(f)

@script:python@
@@
find_droppers()

// ----------------------------------------------------------------------------
// The walks and calls that are reached with a lock held: one that was taken in the
// function, or, without any unlock on the way, one of the caller's.

@locked exists@
identifier lk =~ "^((raw_)?(spin|write)_(try)?lock(_bh|_irq|_irqsave|(_irqsave)?_nested|_nest_lock)?|read_lock_irq(save)?|xas?_lock(_bh|_irq|_irqsave)?)$";
identifier ul =~ "unlock";
identifier d : script:python() { is_dropper(d) };
expression E, e;
position pl, p : script:python() { is_walk(p) };
iterator I;
statement S;
@@
lk@pl(E,...)
... when != ul(E,...)
    when != d(...)
    when any
(
I@p(...) S
|
while@p (e) S
|
for@p (...;...;...) S
)

@script:python@
lk << locked.lk;
E << locked.E;
pl << locked.pl;
p << locked.p;
@@
held.append((p[0].current_element, place(p), (lk, E, pl[0].current_element, pl[0].line)))

@locked_call exists@
identifier lk =~ "^((raw_)?(spin|write)_(try)?lock(_bh|_irq|_irqsave|(_irqsave)?_nested|_nest_lock)?|read_lock_irq(save)?|xas?_lock(_bh|_irq|_irqsave)?)$";
identifier ul =~ "unlock";
identifier d : script:python() { is_dropper(d) };
identifier g : script:python() { is_hot(g) };
expression E;
position pl, p;
@@
lk@pl(E,...)
... when != ul(E,...)
    when != d(...)
    when any
g@p(...)

@script:python@
lk << locked_call.lk;
E << locked_call.E;
pl << locked_call.pl;
p << locked_call.p;
g << locked_call.g;
@@
held.append((p[0].current_element, g, (lk, E, pl[0].current_element, pl[0].line)))

@irq@
identifier off =~ "^local_irq_(disable|save)$";
@@
off(...)

@irq_off depends on irq exists@
identifier off =~ "^local_irq_(disable|save)$";
identifier on =~ "irq_(enable|restore)";
expression e;
position pl, p : script:python() { is_walk(p) };
iterator I;
statement S;
@@
off@pl(...)
... when != on(...)
    when any
(
I@p(...) S
|
while@p (e) S
|
for@p (...;...;...) S
)

@script:python@
off << irq_off.off;
pl << irq_off.pl;
p << irq_off.p;
@@
held.append((p[0].current_element, place(p), (off, "", pl[0].current_element, pl[0].line)))

@irq_off_call depends on irq exists@
identifier off =~ "^local_irq_(disable|save)$";
identifier on =~ "irq_(enable|restore)";
identifier g : script:python() { is_hot(g) };
position pl, p;
@@
off@pl(...)
... when != on(...)
    when any
g@p(...)

@script:python@
off << irq_off_call.off;
pl << irq_off_call.pl;
p << irq_off_call.p;
g << irq_off_call.g;
@@
held.append((p[0].current_element, g, (off, "", pl[0].current_element, pl[0].line)))

@release@
identifier r : script:python() { is_release(r) };
position p;
@@
r@p(...)

@script:python@
p << release.p;
@@
function = p[0].current_element
releases[function] = min(order(place(p)), releases.get(function, order(place(p))))

@script:python@
@@
find_below()

@entry exists@
identifier f : script:python() { has_late(f) };
identifier r : script:python() { is_release(r) };
expression e;
position p : script:python() { is_late(p) };
iterator I;
statement S;
@@
f(...) {
... when != r(...)
    when any
(
I@p(...) S
|
while@p (e) S
|
for@p (...;...;...) S
)
... when any
}

@script:python@
f << entry.f;
p << entry.p;
@@
entered.add((f, place(p)))

@entry_call exists@
identifier f : script:python() { has_late(f) };
identifier r : script:python() { is_release(r) };
identifier g : script:python() { is_hot(g) };
position p : script:python() { is_late(p) };
@@
f(...) {
... when != r(...)
    when any
g@p(...)
... when any
}

@script:python@
f << entry_call.f;
g << entry_call.g;
@@
entered.add((f, g))

// ----------------------------------------------------------------------------
// What a loop does about it: a lock dropped and taken again within it, a look at a
// clock, a counter. And whether a path leads past it to the next turn.

@script:python@
@@
find_suspects()

@unlock@
identifier ul : script:python() { may_drop(ul) };
expression F;
position p;
@@
ul@p(F,...)

@script:python@
p << unlock.p;
F << unlock.F;
@@
if any(loop.name == p[0].current_element and F in loop.drops for loop in loops.values()):
    drops.add(place(p))

@turn exists@
expression e;
identifier t : script:python() { is_touch(t) };
identifier ul;
position p : script:python() { is_suspect(p) };
position pu : script:python() { is_drop(pu) };
position end;
iterator I;
symbol jiffies;
@@
(
I@p(...) {
... when != t(...)
    when != ul@pu(...)
    when != jiffies
}@end
|
while@p (e) {
... when != t(...)
    when != ul@pu(...)
    when != jiffies
}@end
|
for@p (...;...;...) {
... when != t(...)
    when != ul@pu(...)
    when != jiffies
}@end
)

@script:python@
p << turn.p;
@@
loops[place(p)].body_passed.add("")

@around exists@
expression E;
identifier t : script:python() { is_touch(t) };
identifier ul;
position pe : script:python() { is_suspect_head(pe) };
position pu : script:python() { is_drop(pu) };
symbol jiffies;
@@
E@pe
... when != t(...)
    when != ul@pu(...)
    when != jiffies
E@pe

@script:python@
pe << around.pe;
@@
heads[place(pe)].head_passed.add("")

@counted@
identifier i : script:python() { is_counter(i) };
expression step;
@@
(
  i++
|
  ++i
|
  i--
|
  --i
|
  i += step
|
  i -= step
)

@counter_turn exists@
expression e, step;
identifier counted.i;
position p : script:python() { is_counted(p) };
position end;
iterator I;
@@
(
I@p(...) {
... when != i++
    when != ++i
    when != i--
    when != --i
    when != i += step
    when != i -= step
}@end
|
while@p (e) {
... when != i++
    when != ++i
    when != i--
    when != --i
    when != i += step
    when != i -= step
}@end
|
for@p (...;...;...) {
... when != i++
    when != ++i
    when != i--
    when != --i
    when != i += step
    when != i -= step
}@end
)

@script:python@
p << counter_turn.p;
i << counted.i;
@@
loops[place(p)].body_passed.add(i)

@counter_around exists@
expression E, step;
identifier counted.i;
position pe : script:python() { is_counted_head(pe) };
@@
E@pe
... when != i++
    when != ++i
    when != i--
    when != --i
    when != i += step
    when != i -= step
E@pe

@script:python@
pe << counter_around.pe;
i << counted.i;
@@
heads[place(pe)].head_passed.add(i)

@script:python depends on report@
@@
for loop, message in findings():
    coccilib.report.print_report(loop.at, "WARNING: " + message)

@script:python depends on org@
@@
for loop, message in findings():
    coccilib.org.print_safe_todo(loop.at, message)
