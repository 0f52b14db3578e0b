import { addressProblems, checkAddress } from '@pesewa/addresses';
import {
  type ChangeKind,
  type ChangeView,
  changeOperations,
  formatPageCursor,
  pageCursor,
  settingsOperations,
  type Wanted,
} from '@pesewa/contracts';
import {
  type ChangeRefusal,
  createSettings,
  type Settings,
  type SettingsChange,
  settingsOf,
} from '@pesewa/directory';
import { proposalExpiryMs, systemRandom, unreachable } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { answer, foreignCursor, refused, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';

const CHANGES_PER_PAGE = 100;

/** Opens the settings of merchants; addresses are judged as they are before each webhook (contract 10.15). */
export function openSettings(
  scope: Pick<
    ServiceScope<{ readonly WEBHOOK_ALLOWED_ORIGINS: readonly string[] }>,
    'config' | 'clock' | 'ids'
  >,
  messaging: Pick<Messaging, 'database' | 'inTransaction'>,
): Settings {
  const { config, clock, ids } = scope;
  return createSettings({
    db: messaging.database('directory'),
    transact: (work) => messaging.inTransaction(({ session }) => work(session)),
    whyNoAddress: (url) => {
      const judged = checkAddress(url, config.WEBHOOK_ALLOWED_ORIGINS);
      return judged.ok ? undefined : addressProblems[judged.refusal];
    },
    clock,
    ids,
    random: systemRandom,
  });
}

interface ChangeCall {
  readonly parameters: { readonly merchantId?: string };
  readonly body: Readonly<Record<string, unknown>> & {
    readonly reason?: string | undefined;
    readonly dryRun?: boolean | undefined;
  };
  readonly operator: string;
}

/** Adds the routes by which operators look at merchants' settings and change them (ADR 80). */
export function addSettingsRoutes(app: Hono, settings: Settings): void {
  const change =
    <const Status extends 201 | 202>(kind: ChangeKind, status: Status) =>
    async ({ parameters, body, operator: by }: ChangeCall) => {
      const { reason, dryRun, ...wanted } = body;
      // Read by the schema of its kind, which is that of the operation.
      const known = wanted as unknown as Wanted<ChangeKind>;
      const merchantId = parameters.merchantId ?? (wanted as Wanted<'create'>).merchantId;
      const request = { kind, merchantId, wanted: known, reason, by };
      if (dryRun === true) {
        const foreseen = await settings.foresee(request);
        return foreseen.ok ? answer(200, { fields: [...foreseen.value] }) : refusalOfChange(foreseen.refusal);
      }
      const taken = await settings.take(request);
      return taken.ok
        ? answer(status, { ...viewChange(taken.value.change), made: taken.value.made })
        : refusalOfChange(taken.refusal);
    };
  serveOperations(app, changeOperations, {
    create: change('create', 201),
    wallet: change('wallet', 202),
    limits: change('limits', 202),
    webhooks: change('webhooks', 202),
    access: change('access', 202),
    signatures: change('signatures', 202),
    'add-key': change('add-key', 202),
    'remove-key': change('remove-key', 201),
    suspend: change('suspend', 201),
    resume: change('resume', 202),
  });
  serveOperations(app, settingsOperations, {
    merchants: async ({ query: { search, cursor: after, limit } }) => {
      const { items, next } = await settings.merchants({ search, after, limit });
      return answer(200, { items: [...items], next });
    },
    merchant: async ({ parameters: { merchantId } }) => {
      const merchant = await settings.merchant(merchantId);
      return merchant
        ? answer(200, { merchantId, settings: [...settingsOf(merchant)] })
        : refused('not_found', `there is no merchant ${merchantId}`);
    },
    list: async ({ query: { status, merchant: merchantId, cursor = '' } }) => {
      const after = pageCursor.safeParse(cursor).data;
      if (cursor !== '' && after === undefined) return foreignCursor;
      const page = await settings.list({
        limit: CHANGES_PER_PAGE,
        status: status || undefined,
        merchantId,
        after,
      });
      return answer(200, {
        items: page.items.map(viewChange),
        next: page.next && formatPageCursor(page.next),
      });
    },
    show: async ({ parameters: { id } }) => {
      const found = await settings.find(id);
      return found ? answer(200, viewChange(found)) : refused('not_found', 'there is no such change');
    },
    approve: async ({ parameters: { id }, operator }) =>
      decided(await settings.decide(id, { kind: 'approve' }, operator)),
    reject: async ({ parameters: { id }, body: { reason }, operator }) =>
      decided(await settings.decide(id, { kind: 'reject', reason }, operator)),
  });
}

function decided(result: Awaited<ReturnType<Settings['decide']>>) {
  return result.ok ? answer(200, viewChange(result.value)) : refusalOfDecision(result.refusal);
}

function refusalOfChange({ code, message }: ChangeRefusal) {
  switch (code) {
    case 'invalid':
    case 'not_found':
    case 'exists':
    case 'key_taken':
    case 'impossible':
    case 'unchanged':
      return refused(code, message);
    case 'same_operator':
    case 'expired':
    case 'decided':
    case 'stale':
      throw new TypeError(`a change that is asked for is never ${code}`);
    default:
      return unreachable(code);
  }
}

function refusalOfDecision({ code, message }: ChangeRefusal) {
  switch (code) {
    case 'not_found':
    case 'same_operator':
    case 'expired':
    case 'decided':
    case 'stale':
    case 'key_taken':
    case 'impossible':
      return refused(code, message);
    case 'invalid':
    case 'exists':
    case 'unchanged':
      throw new TypeError(`a decision is never ${code}`);
    default:
      return unreachable(code);
  }
}

function viewChange(change: SettingsChange): ChangeView {
  const { id, merchantId, kind, fields, reason, status, requestedBy, at, decidedBy, decidedAt } = change;
  const decidedTime = decidedAt?.toISOString();
  return {
    id,
    merchantId,
    kind,
    fields: [...fields],
    ...(reason !== undefined && { reason }),
    status,
    requestedBy,
    requestedAt: at.toISOString(),
    ...(status === 'proposed' && { expiresAt: new Date(proposalExpiryMs(change)).toISOString() }),
    ...(status === 'applied' && {
      appliedAt: decidedTime,
      ...(decidedBy !== undefined && { approvedBy: decidedBy }),
    }),
    ...(status === 'rejected' && {
      rejectedBy: decidedBy,
      rejectedAt: decidedTime,
      rejectedFor: change.rejectedFor,
    }),
  };
}
