# Asks for a balance with a signed request: PAYOUT_API=… PUBLIC_KEY=… SIGNING_SECRET=… python3 balance.py
import base64, hashlib, hmac, json, os, sys, time, urllib.error, urllib.request

API, PUBLIC_KEY, SECRET = (os.environ[name] for name in ("PAYOUT_API", "PUBLIC_KEY", "SIGNING_SECRET"))


def signature_headers(method, path, body):
    """The headers of a request with exactly this path and query, from /api/v1/ or /collection/v1/ on, and this body."""
    timestamp = str(int(time.time()))
    digest = hashlib.sha256(body).hexdigest()
    text = "\n".join(["v1", timestamp, method, path, digest])
    signature = hmac.digest(SECRET.encode(), text.encode(), hashlib.sha256).hex()
    return {"X-timestamp": timestamp, "X-digest": digest, "X-signature": f"v1={signature}"}


method, path = "POST", "/api/v1/wallets/balance?currency=GHS"
headers = {
    "x-api-key": base64.b64encode(PUBLIC_KEY.encode()).decode(),
    **signature_headers(method, path, b""),  # this request has no body
}
request = urllib.request.Request(API + path, headers=headers, method=method)
try:
    response = urllib.request.urlopen(request, timeout=15)
except urllib.error.HTTPError as refusal:
    response = refusal  # it has a body too
with response:
    answer = json.load(response)
if answer["responseCode"] != "00":
    sys.exit(f"{answer['responseCode']} {answer['responseMessage']}")
print(answer["responseData"][0]["currencyCode"], answer["responseData"][0]["balance"])
