import {
  type HealthView,
  healthOperations,
  type MessagingService,
  messagingServices,
} from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Html, link, pathOf } from '../view/html.ts';
import { age, counted, words } from '../view/values.ts';
import { fromEach, type Visit } from '../visits.ts';

/** The page that says how each service stands. */
export const SERVICES = '/rails/consumers';
/** Events leave an outbox within moments. */
const WAITS_LONG_MS = 20_000;

/** What a service says of itself. */
export type ServiceHealth = HealthView & { readonly service: MessagingService };

const read = async ({ upstream }: Visit, service: MessagingService): Promise<ServiceHealth> => ({
  ...(await upstream.call(service, healthOperations.show, {})),
  service,
});

/** What may be wrong with a service, by what is said if it is not. */
const checks: Readonly<Record<string, (visit: Visit, health: ServiceHealth) => readonly Html[]>> = {
  'all services answer': ({ times }, { problems }) =>
    Object.entries(problems).map(([name, why]) => html`${inWords(name)}: ${words(why, times)}`),
  'all consumers keep up': (_, { keepsUp }) => {
    if (keepsUp === null) return [html`whether it has applied all events that wait for it is not known`];
    return keepsUp ? [] : [html`it has not applied all events that wait for it`];
  },
  'nothing waits in an outbox': ({ times }, { outbox }) => {
    if (outbox === null) return [html`whether events wait in its outbox is not known`];
    const { oldestAt: at } = outbox;
    return at !== null && times.nowMs - Date.parse(at) > WAITS_LONG_MS
      ? [html`events in its outbox wait for Kafka, the oldest for ${age(at, times)}`]
      : [];
  },
  'every message could be applied': (_, { parked, service }) => {
    if (parked === null) return [html`whether it could apply every message is not known`];
    const said = counted(parked, 'message could not be applied', 'messages could not be applied');
    return parked.count === 0 ? [] : [link(pathOf(['webhooks', 'parked'], { service }), said)];
  },
};

/** How all services stand: what each said, a line for each thing that is not well, what is well, and who gave no answer. */
export async function readHealth(visit: Visit) {
  const { found, problems: silent } = await fromEach(messagingServices, (service) => read(visit, service));
  const results = Object.entries(checks).map(([text, check]) => ({
    text,
    lines: found.flatMap((one) =>
      check(visit, one).map((line) => html`${link(SERVICES, one.service)}: ${line}`),
    ),
  }));
  const well = results.flatMap(({ text, lines }) => (lines.length + silent.length === 0 ? [text] : []));
  return { found, lines: results.flatMap(({ lines }) => lines), well, silent };
}

/** What is wrong with one service. */
export async function healthOf(visit: Visit, service: MessagingService): Promise<Html> {
  const health = await read(visit, service);
  const lines = Object.values(checks).flatMap((check) => check(visit, health));
  return lines.length === 0
    ? html`<p>It works, and no event waits for long.</p>`
    : html`${lines.map((line) => html`<p class="problem">${line}</p>`)}`;
}
