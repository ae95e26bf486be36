"""A bigram as a learner of wug: a next-symbol model and a recognizer. `{ name = "mine", command = ["python3", "bigram.py"] }`"""
import json
import math
import sys


def count(strings, vocabulary, smoothing):
    table = [[smoothing] * vocabulary for _ in range(vocabulary)]
    for string in strings:
        for before, after in zip(string, string[1:]):
            table[before][after] += 1
    return [[n / sum(row) if sum(row) else 1 / vocabulary for n in row] for row in table]


state = {}
for line in sys.stdin:
    [(what, message)] = json.loads(line).items()
    if what == "hello":
        reply = {"hello": {"protocol": 1, "roles": ["next-symbol", "recognizer"], "version": "1", "saves": True}}
    elif what == "fit":
        strings, v = message["training"]["strings"], message["vocabulary"]
        if message["role"] == "next-symbol":  # strings begin and end with 0
            state["next"] = count(strings, v, 0)
        else:  # strings are symbols alone; labels say which are members
            for label in (True, False):
                some = [[0, *s, 0] for s, is_member in zip(strings, message["training"]["labels"]) if is_member == label]
                state[str(label)] = count(some, v, 1)
        reply = {"fitted": {"parameters": v * v}}
    elif what == "ask" and message["what"] == "next-symbols":  # a row of probabilities after each symbol
        reply = {"answers": [[state["next"][symbol] for symbol in string] for string in message["strings"]]}
    elif what == "ask":  # the log-odds that each string is a member
        yes, no, pairs = state["True"], state["False"], [zip([0, *s], [*s, 0]) for s in message["strings"]]
        reply = {"answers": [sum(math.log(yes[a][b] / no[a][b]) for a, b in string) for string in pairs]}
    elif what == "save":
        reply = {"saved": json.dumps(state)}
    elif what == "load":
        state, reply = json.loads(message["state"]), {"loaded": {}}
    else:  # goodbye
        break
    print(json.dumps(reply), flush=True)
