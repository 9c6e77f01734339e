import base64, hashlib, hmac, os
from typing import Any, Optional
import uvicorn
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

app = FastAPI()
SECRET = os.environ["LISTENER_SECRET"]


def is_signed(headers, body):
    message = f"{headers['Webhook-Timestamp']}.{headers['Webhook-Event-Id']}.".encode() + body
    digest = hmac.new(SECRET.encode(), message, hashlib.sha256).digest()
    right = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(right, headers.get("Webhook-Signature", ""))


class Event(BaseModel):
    type: str
    name: str
    gone: Optional[Any] = None


if os.environ["LISTENER"] == "wrong":
    @app.post("/api/v1/webhooks/incoming/{listener}")
    async def incoming(event: Event, request: Request):
        body = event.json(exclude_none=True).encode()
        return Response(status_code=200 if is_signed(request.headers, body) else 401)
else:
    # --- page
    @app.post("/api/v1/webhooks/incoming/{listener}")
    async def incoming(request: Request):
        return Response(status_code=200 if is_signed(request.headers, await request.body()) else 401)
    # ---

uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="error")
