# Requests a payout and waits for its end: PAYOUT_API=… PUBLIC_KEY=… python3 payout.py inv-1002
import base64, http.client, itertools, json, os, random, sys, time, urllib.error, urllib.parse, urllib.request

API, PUBLIC_KEY = os.environ["PAYOUT_API"], os.environ["PUBLIC_KEY"]
REFERENCE = sys.argv[1]

# Store reference and body before you send them. After a crash, run all of this again with both.
PAYOUT = json.dumps({
    "transactionReference": REFERENCE,
    "country": "Ghana",
    "currency": "GHS",
    "channel": "Mobile Money",
    "beneficiary": {
        "accountName": "Ama Mensah",
        "accountNumber": "0240001234",
        "bankCode": "GHMTN",
        "amount": 25.5,
    },
    "sender": {"name": "Demo Merchant", "email": "payouts@example.com"},
}).encode()


def send(path, body=None):
    """The answer; None if there is none, or if it says to ask again."""
    headers = {"x-api-key": base64.b64encode(PUBLIC_KEY.encode()).decode(), "content-type": "application/json"}
    request = urllib.request.Request(f"{API}/api/v1/transactions/{path}", body, headers)
    try:
        try:
            response = urllib.request.urlopen(request, timeout=15)
        except urllib.error.HTTPError as refusal:
            response = refusal  # it has a body too
        with response:
            answer = json.load(response)
    except (OSError, http.client.HTTPException, ValueError):
        return None
    return None if answer.get("responseCode") in ("65", "91", "96", None) else answer


def refuse(answer):
    sys.exit(f"{answer['responseCode']} {answer['responseMessage']}")


is_stored, status = False, "INITIALIZED"
for attempt in itertools.count():
    # Sent again under the same reference, it is still one payout.
    answer = None if is_stored else send("transfer/single", PAYOUT)
    if answer and answer["responseCode"] == "94":  # another payout has this reference
        refuse(answer)
    # Whatever the answer was, or if it was lost: the lookup knows. In production wait for the webhook first.
    found = send(f"{urllib.parse.quote(REFERENCE, safe='')}/query")
    is_stored = not found or found["responseCode"] != "25"  # if the lookup was lost too, look it up again
    if not is_stored and answer and answer["responseCode"] != "09":
        refuse(answer)
    if found and is_stored and found["responseCode"] != "00":
        refuse(found)
    if found and is_stored and (status := found["responseData"]["transactionStatus"]) != "INITIALIZED":
        break
    # Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter.
    time.sleep(min(2**attempt, 60) * random.uniform(0.75, 1.25))
print(REFERENCE, status)
