"""Reads a topic with the deserializer of a schema registry: decode.py <brokers> <registry> <topic> <records>

Prints a line of JSON for each record, and one with the ids that the registry gives for each subject.
"""

import json
import sys
import uuid

from confluent_kafka import Consumer, KafkaException
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

brokers, url, topic, count = sys.argv[1:]

registry = SchemaRegistryClient({"url": url})
# Without a schema of its own it fetches that of each record, and refuses a value that does not fit it.
deserialize = JSONDeserializer(None, schema_registry_client=registry)
consumer = Consumer(
    {
        "bootstrap.servers": brokers,
        "group.id": f"decode-{uuid.uuid4()}",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
)
consumer.subscribe([topic])
for _ in range(int(count)):
    message = consumer.poll(60)
    if message is None:
        sys.exit("no record came in a minute")
    if message.error():
        raise KafkaException(message.error())
    headers = message.headers()
    data = deserialize(message.value(), SerializationContext(topic, MessageField.VALUE, headers))
    texts = {name: value.decode() for name, value in headers}
    print(json.dumps({"type": texts["ce_type"], "schema": texts["ce_dataschema"], "data": data}), flush=True)
consumer.close()

ids = {}
for subject in registry.get_subjects():
    latest = registry.get_latest_version(subject)
    for version in registry.get_versions(subject):
        assert registry.get_version(subject, version).schema_id == latest.schema_id
    assert registry.get_schema(latest.schema_id).schema_str == latest.schema.schema_str
    ids[subject] = latest.schema_id
print(json.dumps(ids))
