#!/usr/bin/python3
"""Like the image `axllent/mailpit`: accepts every mail at port 1025, and returns the last one at port 8025."""
import email
import email.policy
import json
import os
import signal
from http.server import BaseHTTPRequestHandler, HTTPServer

from aiosmtpd.controller import Controller

mails = []


class Taken:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        to = [{"Address": address} for address in envelope.rcpt_tos]
        mails.append({"To": to, "Subject": mail["Subject"], "Text": mail.get_body(("plain",)).get_content()})
        return "250 OK"


class Told(BaseHTTPRequestHandler):
    def do_GET(self):
        is_there = self.path == "/api/v1/message/latest" and mails
        self.send_response(200 if is_there else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if is_there:
            self.wfile.write(json.dumps(mails[-1]).encode())


# The first process of a container has no default handler for it.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
Controller(Taken(), hostname="0.0.0.0", port=1025).start()
HTTPServer(("", 8025), Told).serve_forever()
