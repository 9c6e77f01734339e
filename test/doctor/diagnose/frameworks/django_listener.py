import base64, hashlib, hmac, json, os, sys
import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

SECRET = os.environ["LISTENER_SECRET"]
settings.configure(DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="of Django's own")


def is_signed(headers, body):
    message = f"{headers['Webhook-Timestamp']}.{headers['Webhook-Event-Id']}.".encode() + body
    digest = hmac.new(SECRET.encode(), message, hashlib.sha256).digest()
    right = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(right, headers.get("Webhook-Signature", ""))


# --- page
@csrf_exempt
def incoming(request, listener):
    return HttpResponse(status=200 if is_signed(request.headers, request.body) else 401)
# ---


@csrf_exempt
def wrong(request, listener):
    body = json.dumps(json.loads(request.body)).encode()
    return HttpResponse(status=200 if is_signed(request.headers, body) else 401)


view = wrong if os.environ["LISTENER"] == "wrong" else incoming
urlpatterns = [path("api/v1/webhooks/incoming/<listener>", view)]
execute_from_command_line([sys.argv[0], "runserver", "--noreload", f"127.0.0.1:{os.environ['PORT']}"])
