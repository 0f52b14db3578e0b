import { Kafka } from 'kafkajs';

export const kind = typeof Kafka;
