"""Holds a HAR file on standard input against the HAR 1.2 specification; prints what is wrong, a line each."""

import json
import sys
from datetime import datetime

problems = []


def need(value, where, fields):
    if not isinstance(value, dict):
        problems.append(f"{where} is no object")
        return
    for name, kind in fields.items():
        if name not in value:
            problems.append(f"{where}.{name} is missing")
        elif not isinstance(value[name], kind) or isinstance(value[name], bool):
            problems.append(f"{where}.{name} is {type(value[name]).__name__}")
    for name in value:
        # Custom fields start with an underscore; the optional ones of the specification are named here.
        if name not in fields and not name.startswith("_") and name not in OPTIONAL:
            problems.append(f"{where}.{name} is not in the specification")


OPTIONAL = {
    "browser", "pages", "comment", "pageref", "serverIPAddress", "connection", "postData", "compression",
    "text", "encoding", "params", "blocked", "dns", "connect", "ssl", "beforeRequest", "afterRequest",
}
NUMBER = (int, float)


def pairs(values, where):
    for at, value in enumerate(values if isinstance(values, list) else []):
        need(value, f"{where}[{at}]", {"name": str, "value": str})


def check(har):
    need(har, "har", {"log": dict})
    log = har["log"]
    need(log, "log", {"version": str, "creator": dict, "entries": list})
    need(log["creator"], "creator", {"name": str, "version": str})
    if log["version"] != "1.2":
        problems.append("log.version is not 1.2")
    for at, entry in enumerate(log["entries"]):
        where = f"entries[{at}]"
        need(entry, where, {
            "startedDateTime": str, "time": NUMBER, "request": dict, "response": dict, "cache": dict, "timings": dict,
        })
        datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00"))
        request, response = entry["request"], entry["response"]
        need(request, f"{where}.request", {
            "method": str, "url": str, "httpVersion": str, "cookies": list, "headers": list, "queryString": list,
            "headersSize": int, "bodySize": int,
        })
        need(response, f"{where}.response", {
            "status": int, "statusText": str, "httpVersion": str, "cookies": list, "headers": list, "content": dict,
            "redirectURL": str, "headersSize": int, "bodySize": int,
        })
        pairs(request["headers"], f"{where}.request.headers")
        pairs(request["queryString"], f"{where}.request.queryString")
        pairs(response["headers"], f"{where}.response.headers")
        need(response["content"], f"{where}.content", {"size": int, "mimeType": str})
        if "postData" in request:
            need(request["postData"], f"{where}.postData", {"mimeType": str, "text": str})
        need(entry["timings"], f"{where}.timings", {"send": NUMBER, "wait": NUMBER, "receive": NUMBER})
        total = sum(entry["timings"][name] for name in ("send", "wait", "receive"))
        if abs(total - entry["time"]) > 0.001:
            problems.append(f"{where}.time is not the sum of its timings")


check(json.load(sys.stdin))
print("\n".join(problems), end="")
