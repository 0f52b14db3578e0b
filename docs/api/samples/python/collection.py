# Collects by STK push and waits for the end: COLLECTION_API=… PUBLIC_KEY=… python3 collection.py order-1
import base64, http.client, itertools, json, os, random, sys, time, urllib.error, urllib.request

API, PUBLIC_KEY = os.environ["COLLECTION_API"], os.environ["PUBLIC_KEY"]
REFERENCE = sys.argv[1]

# Store the reference before you send it. After a crash, run all of this again with it.
PAYIN = {
    "requestHeader": {"requestType": "Collections"},
    "customerNumber": "2250701021234",
    "transactionReference": REFERENCE,
    "transactionAmount": 1500,
    "transactionCurrency": "XOF",
    "transactionCountry": "CI",
    "operatorCode": "CIMTN",
}
QUESTION = {name: PAYIN[name] for name in ("requestHeader", "transactionReference", "transactionCountry")}
# The amount exactly as the body writes it, the reference, the number; of a status check the reference alone.
PAYIN_MODULE = json.dumps(PAYIN["transactionAmount"]) + REFERENCE + PAYIN["customerNumber"]
PASSING = ("TOO MANY REQUESTS", "SERVICE UNAVAILABLE", "INTERNAL ERROR")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def send(path, module, body):
    """The answer; an empty one if there is none."""
    keys = {"X-module": encoded(module), "X-business": encoded(PUBLIC_KEY), "X-app": "api"}
    headers = {**keys, "content-type": "application/json"}
    request = urllib.request.Request(f"{API}/collection/v1/{path}", json.dumps(body).encode(), headers)
    try:
        try:
            response = urllib.request.urlopen(request, timeout=15)
        except urllib.error.HTTPError as refusal:
            response = refusal  # it has a body too
        with response:
            return json.load(response)
    except (OSError, http.client.HTTPException, ValueError):
        return {}


code = "25"  # nothing is recorded yet
for attempt in itertools.count():
    answer = send("payin", PAYIN_MODULE, PAYIN).get("responseDetails", {}) if code == "25" else {}
    # Whatever the answer was, or if it was lost: the status is known. In production wait for the webhook first.
    found = send("check-status", REFERENCE, QUESTION)
    state = found.get("serverResponse", {}).get("responseDetails", {})
    code = state.get("responseCode")
    if code in ("00", "06"):
        break
    reason = answer.get("failedReason")
    is_refused = reason and reason not in PASSING
    if is_refused and (code == "25" or found.get("status") == 400):
        sys.exit(f"{reason}: {answer['statusDescription']}")
    if found.get("status") == 400:
        sys.exit("the status check is refused: see its key and headers")
    # Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter.
    time.sleep(min(2**attempt, 60) * random.uniform(0.75, 1.25))
print(REFERENCE, state["responseMessage"])  # the webhook has the amount that was paid
