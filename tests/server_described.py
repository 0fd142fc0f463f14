"""Holds the answers of machsym-server to its own description (OpenAPI 3.0, server/openapi.json)."""
import json
import re
import threading

import jsonschema


def for_jsonschema(value):
    """OpenAPI's nullable, in the words of JSON Schema."""
    if isinstance(value, list):
        return [for_jsonschema(v) for v in value]
    if not isinstance(value, dict):
        return value
    made = {k: for_jsonschema(v) for k, v in value.items() if k != "nullable"}
    if value.get("nullable") is True:
        made["type"] = [made["type"], "null"]
    return made


class Description:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.doc = for_jsonschema(json.loads(self.text))
        self.resolver = jsonschema.RefResolver.from_schema(self.doc)
        self.paths = [(re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(p)) + r"\Z"), p) for p in self.doc["paths"]]
        self.asked = set()
        self.lock = threading.Lock()  # the resolver has a state

    def operation(self, method, path):
        """What answers, and its name; None: nothing does."""
        for pattern, template in self.paths:
            if pattern.match(path.split("?")[0]) and method.lower() in self.doc["paths"][template]:
                return self.doc["paths"][template][method.lower()], method + " " + template
        return None, method + " " + path

    def fault(self, method, path, answer, body):
        """What an answer has that its description has not; None: nothing."""
        with self.lock:
            return self.fault_of(method, path, answer, body)

    def fault_of(self, method, path, answer, body):
        operation, name = self.operation(method, path)
        if operation is None:
            return None if answer.status in (301, 401, 403, 404, 405) else "%s is not described, and has %d" % (name, answer.status)
        self.asked.add(name)
        known = operation["responses"].get(str(answer.status))
        if known is None:
            return "%s has %d, which is not described" % (name, answer.status)
        if "$ref" in known:
            known = self.resolver.resolve(known["$ref"])[1]
        kind = (answer.getheader("Content-Type") or "").split(";")[0]
        if not body and "content" not in known:
            return None
        if kind not in known.get("content", {}):
            return "%s has %d as %s, which is not described" % (name, answer.status, kind)
        if kind != "application/json":
            return None
        try:
            jsonschema.Draft4Validator(known["content"][kind]["schema"], resolver=self.resolver).validate(json.loads(body))
        except (jsonschema.ValidationError, ValueError) as error:
            return "%s has %d: %.300s" % (name, answer.status, error)
        return None

    def unasked(self):
        """Operations whose answers were not seen."""
        every = {m.upper() + " " + p for p, item in self.doc["paths"].items() for m in item}
        return sorted(every - self.asked)
