import { MongoClient } from 'mongodb';

export const kind = typeof MongoClient;
