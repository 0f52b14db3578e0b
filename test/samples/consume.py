import io
import json
import os
import struct
from urllib.request import urlopen

import fastavro
from confluent_kafka import Consumer, KafkaException

REGISTRY = os.environ["SCHEMA_REGISTRY_URL"]
schemas = {}


def decode(value):
    """Decodes the wire format of the registry: a zero byte, the schema's id, the record."""
    magic, schema_id = struct.unpack(">bI", value[:5])
    if magic != 0:
        raise ValueError("not in the wire format of the registry")
    if schema_id not in schemas:
        with urlopen(f"{REGISTRY}/schemas/ids/{schema_id}", timeout=10) as answer:
            schemas[schema_id] = fastavro.parse_schema(json.loads(json.load(answer)["schema"]))
    return fastavro.schemaless_reader(io.BytesIO(value[5:]), schemas[schema_id])


consumer = Consumer({
    "bootstrap.servers": os.environ["KAFKA_BROKERS"],
    "group.id": os.environ.get("CONSUMER_GROUP", "my-service"),
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
})
consumer.subscribe([os.environ.get("TOPIC_PREFIX", "") + "payouts.events.v1"])
seen = set()  # in your database, with a unique key, in the transaction of your work

while True:
    message = consumer.poll(1.0)
    if message is None:
        continue
    if message.error():
        raise KafkaException(message.error())
    headers = {name: value.decode() for name, value in message.headers()}
    # New types of events may come: leave out what you don't know.
    if headers["event-type"] == "pesewa.payouts.PayoutCompleted" and headers["event-id"] not in seen:
        event = decode(message.value())
        print(event["merchantReference"], event["amount"], flush=True)
        seen.add(headers["event-id"])
    consumer.commit(message, asynchronous=False)
