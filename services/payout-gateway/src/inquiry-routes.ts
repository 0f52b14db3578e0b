import { countryCode, currencyCode, currencyHtml, jsonNumber, nameEnquiryRequest } from '@pesewa/contracts';
import type { Merchant, MerchantWallet } from '@pesewa/directory';
import { currencyExponent, formatAmount, unreachable } from '@pesewa/kernel';
import type { AppEnv } from '@pesewa/merchant-api';
import type { Processor } from '@pesewa/rails';
import { type Logger, readBytes, readJsonBody } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { answerTooMany } from './api-operation.ts';
import type { Balances } from './balances.ts';
import type { FlagUrl } from './country-flags.ts';
import { processorProblem, type RouteQuery } from './domain/routing.ts';
import { inquiryOperations } from './inquiry-operations.ts';
import type { NameEnquiry, NameEnquiryOutcome } from './name-enquiry.ts';
import type { Processors } from './processors.ts';

/** The dependencies of the inquiries. */
export interface InquiryDeps {
  readonly balances: Pick<Balances, 'available'>;
  readonly processors: Pick<Processors, 'list'>;
  /** How payouts fare on each route; undefined before it is first measured. */
  readonly availability: (merchantId: string) => Parameters<typeof availability.succeed>[1] | undefined;
  /** Each once. */
  readonly routes: readonly PayoutRoute[];
  readonly enquireName: NameEnquiry;
  /** Gives the seconds to wait if this enquiry is one too many. */
  readonly rateLimits: { readonly limitNameEnquiry: (merchant: Merchant) => Promise<number | undefined> };
  readonly flagUrl: FlagUrl;
  readonly logger: Pick<Logger, 'error'>;
}

/** A route as merchants name it. */
export type PayoutRoute = Pick<RouteQuery, 'country' | 'currency' | 'channel'>;

/** The largest body of a name enquiry, and of the balance operation, which ignores its body. */
const BODY_BYTES_MAX = 4_096;

const { balance, processors, nameEnquiry, availability, configuration } = inquiryOperations;

/** The routes that only read: balance, processors, name enquiry (contract 4.4 to 4.6). */
export function createInquiryRoutes(deps: InquiryDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post(balance.route.getRoutingPath(), (context) => getBalance(context, deps));
  routes.get(processors.route.getRoutingPath(), (context) => listProcessors(context, deps));
  routes.get(availability.route.getRoutingPath(), (context) => {
    const found = deps.availability(context.get('merchant').id);
    return found
      ? availability.succeed(context, found)
      : availability.refuse(context, 'unavailable', 'it is not measured yet: try again');
  });
  routes.get(configuration.route.getRoutingPath(), (context) => {
    const { limits } = context.get('merchant');
    return configuration.succeed(context, {
      configuration: deps.routes.map((route) => viewRoute(route, limits)),
    });
  });
  routes.post(nameEnquiry.route.getRoutingPath(), (context) => enquireName(context, deps));
  return routes;
}

async function getBalance(context: Context<AppEnv>, deps: InquiryDeps): Promise<Response> {
  const body = await readBytes(context, BODY_BYTES_MAX);
  if (body === undefined) {
    return balance.refuse(context, 'malformed', `the body must have at most ${BODY_BYTES_MAX} bytes`);
  }
  // It says nothing, but a merchant who tries signatures here learns of a wrong digest.
  if (context.get('isSignedBody')?.(body) === false)
    return balance.refuse(context, 'malformed', 'the body is not the one that was signed');
  const asked = readQuery(context, 'currency', /^[A-Za-z0-9]{1,16}$/);
  if (!asked.ok) return balance.refuse(context, 'malformed', asked.message);
  const merchant = context.get('merchant');
  const only = asked.value === undefined ? undefined : currencyCode(asked.value);
  const wallets = merchant.wallets.filter(({ currency }) => asked.value === undefined || currency === only);
  if (wallets.length === 0) return balance.succeed(context, [], 'No such wallet');
  const currencies = wallets.map(({ currency }) => currency);
  const available = await deps.balances.available(merchant.id, currencies).catch((error: unknown) => {
    deps.logger.error({ err: error }, 'balances could not be read');
    return undefined;
  });
  if (!available)
    return balance.refuse(context, 'unavailable', 'the balance is not known at present: try again');
  const data = wallets.map((wallet) =>
    viewWallet(wallet, available.get(wallet.currency) ?? 0n, deps.flagUrl),
  );
  return balance.succeed(context, data);
}

async function listProcessors(context: Context<AppEnv>, deps: InquiryDeps): Promise<Response> {
  const asked = readQuery(context, 'country', /^[\p{L}\p{M}\p{N} .,'’()&-]{1,60}$/u);
  if (!asked.ok) return processors.refuse(context, 'malformed', asked.message);
  if (asked.value === undefined) return processors.refuse(context, 'malformed', 'country is required');
  const country = countryCode(asked.value);
  const list = country === undefined ? [] : await deps.processors.list(country);
  if (!list)
    return processors.refuse(
      context,
      'unavailable',
      'the list of processors is not available at present: try again',
    );
  const data = list.map((processor) => viewProcessor(processor, country ?? '', deps.flagUrl));
  return processors.succeed(context, data);
}

async function enquireName(context: Context<AppEnv>, deps: InquiryDeps): Promise<Response> {
  const waitSeconds = await deps.rateLimits.limitNameEnquiry(context.get('merchant'));
  if (waitSeconds !== undefined) return answerTooMany(context, 'too many name enquiries', waitSeconds);
  const request = await readJsonBody(context, nameEnquiryRequest, BODY_BYTES_MAX);
  if (!request.ok) return nameEnquiry.refuse(context, 'malformed', request.refusal);
  const country = countryCode(request.value.country);
  if (country === undefined)
    return nameEnquiry.refuse(context, 'malformed', 'country must be a country name or an ISO 3166 code');
  const currency = currencyCode(request.value.currency);
  if (currency === undefined)
    return nameEnquiry.refuse(context, 'malformed', 'currency must be an ISO 4217 code');
  const { accountNumber, bankCode } = request.value;
  const outcome = await deps.enquireName({ accountNumber, bankCode, currency, country });
  return answerEnquiry(context, outcome, country);
}

function answerEnquiry(context: Context<AppEnv>, outcome: NameEnquiryOutcome, country: string): Response {
  switch (outcome.kind) {
    case 'found':
      return nameEnquiry.succeed(context, outcome.account);
    case 'noAccount':
      return nameEnquiry.refuse(context, 'notFound', 'there is no such account');
    case 'noRoute':
      return nameEnquiry.refuse(context, 'noRoute', 'no rail serves the country and currency');
    case 'noProcessor':
      return nameEnquiry.refuse(context, 'noRoute', processorProblem('bankCode', outcome.why, country));
    case 'unavailable':
      return nameEnquiry.refuse(context, 'unavailable', 'the holder is not known at present: try again');
    default:
      return unreachable(outcome);
  }
}

type Asked =
  | { readonly ok: true; readonly value: string | undefined }
  | { readonly ok: false; readonly message: string };

/**
 * A query parameter as text. An empty one counts as absent; a repeated one, or an array or operator under its name, is
 * refused.
 */
function readQuery(context: Context<AppEnv>, name: string, pattern: RegExp): Asked {
  const query = new URL(context.req.url).searchParams;
  const values = query.getAll(name);
  const odd = [...query.keys()].some((key) => key.startsWith(`${name}[`));
  if (values.length > 1 || odd) return { ok: false, message: `${name} must be given once, as text` };
  const value = values[0]?.trim() ?? '';
  if (value === '') return { ok: true, value: undefined };
  return pattern.test(value) ? { ok: true, value } : { ok: false, message: `${name} is malformed` };
}

/**
 * A wallet in the answer of the balance operation (contract 2.5); `balance` is what can be spent now, in minor units.
 */
function viewWallet(wallet: MerchantWallet, available: bigint, flagUrl: FlagUrl) {
  return {
    balance: jsonNumber(formatAmount(available, wallet.currency)),
    countryCode: wallet.country,
    countryAvatar: flagUrl(wallet.country),
    currencyCode: wallet.currency,
    currencyHtml: currencyHtml(wallet.currency),
  };
}

/** What a route takes of a merchant's payouts (contract 10.24). */
function viewRoute({ country, currency, channel }: PayoutRoute, limits: Merchant['limits']) {
  const limit = (minor: Readonly<Record<string, bigint>> | undefined) =>
    minor?.[currency] === undefined ? null : jsonNumber(formatAmount(minor[currency], currency));
  return {
    country,
    currency,
    channel,
    decimals: jsonNumber(String(currencyExponent(currency))),
    minimumAmount: limit(limits.perPayoutMinMinor),
    maximumAmount: limit(limits.perPayoutMaxMinor),
    dailyMaximumAmount: limit(limits.perDayMaxMinor),
  };
}

/** A processor in the list (contract 2.6), with its country's flag if the rail has no picture of it. */
function viewProcessor(processor: Processor, country: string, flagUrl: FlagUrl) {
  return { ...processor, avatar: processor.avatar || flagUrl(country), country };
}
