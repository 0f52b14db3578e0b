import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { MongoClient } from 'mongodb';

/** The simplest durable service there is: Hono, JSON.parse, one majority insert per request. */
const [, , url = '', port = '0'] = process.argv;

const client = new MongoClient(url, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 100 });
await client.connect();
const collection = client.db('bench_floor').collection('requests');
const app = new Hono();
app.get('/readyz', (context) => context.text('ready'));
app.post('/', async (context) => {
  await collection.insertOne(await context.req.json());
  return context.json({ isSuccessful: true, responseCode: '09' });
});
serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' });
