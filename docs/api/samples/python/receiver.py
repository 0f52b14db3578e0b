# Receives webhooks: WEBHOOK_SECRET=… PORT=8080 python3 receiver.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
stored = {}  # in your database, with a unique key


def is_from_pesewa(headers, body):
    """True if the exact bytes were signed with the secret within the last five minutes."""
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    digest = hmac.digest(KEY, f"{webhook_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(signature, expected) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if not 0 <= length <= 100_000:  # no webhook is as long
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_from_pesewa(self.headers, body):
            return self.answer(401)
        # Only one of two requests at the same time stores it.
        is_new = stored.setdefault(self.headers["webhook-id"], body) is body
        self.answer(200)
        if is_new:
            work(json.loads(body))

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()


def work(webhook):
    if "data" in webhook:  # a payout
        print(webhook["data"]["merchantReference"], webhook["data"]["transactionStatus"], flush=True)
    else:  # a collection
        print(webhook["merchant_reference"], webhook["status"], flush=True)


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
