import sys
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(sys.argv[1])

@app.post("/webhooks")
def receive():
    try:
        # The bytes, before `request.json` is used.
        event = webhook.verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError):  # ValueError: headers that are not even written like signatures
        return "", 400
    print(event["type"], event["data"]["parcel"], flush=True)
    return "", 204

app.run(host="127.0.0.1", port=int(sys.argv[2]))
