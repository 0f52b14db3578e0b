// Nothing to report here: this package is the one that speaks Kafka.
import { Kafka } from 'kafkajs';

export const kind = typeof Kafka;
