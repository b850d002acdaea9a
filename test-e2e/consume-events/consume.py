"""Consumes events and applies each of them once: consume.py <brokers> <group> <database file> <topic>…

Prints each event that it applies as a line of JSON, and leaves its group on SIGTERM. Where Kafka has TLS and principals,
KAFKA_CA is the file of its authority, and KAFKA_USERNAME and KAFKA_PASSWORD are a SCRAM-SHA-512 login.
"""

import json
import os
import signal
import sqlite3
import sys

from confluent_kafka import Consumer, KafkaException

brokers, group, file, *topics = sys.argv[1:]

database = sqlite3.connect(file)
database.execute("CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY)")
database.execute("CREATE TABLE IF NOT EXISTS tally (type TEXT PRIMARY KEY, events INTEGER NOT NULL)")


def handle(message):
    if message.value() is None:
        # A tombstone of a state topic: a consumer that keeps records by key deletes this one.
        return
    headers = {name: value.decode() for name, value in message.headers()}
    event = {
        "id": headers["ce_id"],
        "type": headers["ce_type"],
        "key": message.key().decode(),
        "data": json.loads(message.value()),
    }
    # The effect and the memory of it are one transaction, so neither is ever there without the other.
    with database:
        is_new = database.execute("INSERT OR IGNORE INTO handled VALUES (?)", [event["id"]]).rowcount == 1
        if is_new:
            database.execute(
                "INSERT INTO tally VALUES (?, 1) ON CONFLICT (type) DO UPDATE SET events = tally.events + 1",
                [event["type"]],
            )
    if is_new:
        print(json.dumps(event), flush=True)


security = {}
if "KAFKA_CA" in os.environ:
    security = {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": os.environ["KAFKA_CA"],
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": os.environ["KAFKA_USERNAME"],
        "sasl.password": os.environ["KAFKA_PASSWORD"],
    }

running = True


def stop(*_):
    global running
    running = False


signal.signal(signal.SIGTERM, stop)
consumer = Consumer(
    {
        "bootstrap.servers": brokers,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        **security,
    }
)
consumer.subscribe(topics)
while running:
    message = consumer.poll(1)
    if message is None:
        continue
    if message.error():
        raise KafkaException(message.error())
    handle(message)
    consumer.commit(message, asynchronous=True)
consumer.close()
database.close()
