# What Python prints; the arguments are a plain body and one with numbers.
import base64
import html
import json
import sys
import urllib.parse

plain, numbers = sys.argv[1:]
value = json.loads(plain)
print(json.dumps({
    "Python, json.dumps": json.dumps(value),
    "Python, ensure_ascii=False": json.dumps(value, ensure_ascii=False),
    "Python, separators": json.dumps(value, separators=(",", ":")),
    "Python, sort_keys": json.dumps(value, sort_keys=True),
    "Python, sort_keys and ensure_ascii=False": json.dumps(value, sort_keys=True, ensure_ascii=False),
    "Python, indent=4": json.dumps(value, indent=4),
    "Python, sort_keys and indent=4": json.dumps(value, indent=4, sort_keys=True),
    "Python, numbers": json.dumps(json.loads(numbers), separators=(",", ":")),
    "Python, str of a dict": str(value),
    "Python, str of bytes": str(plain.encode()),
    "Python, base64.encodebytes": base64.encodebytes(plain.encode()).decode(),
    "Python, quote_plus": urllib.parse.quote_plus(plain),
    "Python, html.escape": html.escape(plain),
    "Python, encode ascii with replace": plain.encode("ascii", "replace").decode(),
}))
