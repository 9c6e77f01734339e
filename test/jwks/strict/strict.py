# Reads pairs of a key set and a token with PyJWT, and refuses JSON with a member that stands twice.
import json
import sys

import jwt


def once(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a member stands twice")
    return dict(pairs)


def verify(text, token):
    document = json.loads(text, object_pairs_hook=once)
    known = [key for key in document["keys"] if key.get("use") == "sig" and key.get("crv") != "Ed448"]
    header = jwt.get_unverified_header(token)
    found = [key for key in known if key.get("kid") == header["kid"] and key.get("alg") == header["alg"]]
    if len(found) != 1:
        raise ValueError("kid or alg")
    # PyJWT itself reads the whole set first, as its client does.
    jwt.PyJWKSet.from_dict(document)
    jwt.decode(token, jwt.PyJWK.from_dict(found[0]).key, algorithms=[header["alg"]])


for document, token in json.load(sys.stdin):
    try:
        verify(document, token)
        print("taken")
    except Exception as error:
        print("refused", type(error).__name__, " ".join(str(error).split()))
