import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { addPauseRoutes, type PauseRouteDeps } from './pause-routes.ts';
import type { Pauses, ResumeRefusal } from './pauses.ts';

const upstream = { scope: 'rail', name: 'upstream' } as const;
const pause = { ...upstream, reason: 'they pay twice', pausedBy: 'ama', pausedAt: '2026-01-02T03:04:05Z' };
const named = (['operator', 'approver'] as const).map((role) => ({
  name: `an-${role}`,
  role,
  tokenHash: createHash('sha256').update(`token-of-${role}`).digest(),
}));

/** The routes over pauses of which one may be proposed already; `approved` has the approvals that reached them. */
function open(proposed: Result<string, ResumeRefusal>, approval: Awaited<ReturnType<Pauses['approve']>>) {
  const approved: object[] = [];
  const pauses: PauseRouteDeps['pauses'] = {
    list: () => [],
    pause: () => Promise.reject(new Error('nobody pauses')),
    propose: async () => (proposed.ok ? accept({ ...pause, resumeProposedBy: proposed.value }) : proposed),
    approve: async ({ pausedAt }, given) => {
      approved.push({ ...given, pausedAt });
      return approval;
    },
  };
  const routes = new Hono();
  addPauseRoutes(routes, { pauses, rails: [upstream], findMerchant: async () => undefined });
  const app = guardOperator(routes, createOperators('the-shared-token', named, false));
  const ask = async (role: string, body: object) => {
    const headers = { authorization: `Bearer token-of-${role}`, 'content-type': 'application/json' };
    const init = {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...upstream, pausedAt: pause.pausedAt, ...body }),
    };
    const answer = await app.request('/pauses/resume', init);
    return [answer.status, await answer.json()];
  };
  return { ask, approved };
}

it('a proposal never resumes, whatever a colleague did meanwhile, and says who proposed', async () => {
  const { ask, approved } = open(accept('kofi'), accept(null));
  for (const role of ['operator', 'approver'])
    expect(await ask(role, {})).toEqual([
      409,
      {
        code: 'proposed_already',
        message: 'kofi has proposed to resume it: an approver resumes it with approves: "kofi"',
      },
    ]);
  expect(await open(accept('an-operator'), accept(null)).ask('operator', {})).toMatchObject([
    202,
    { resumeProposedBy: 'an-operator' },
  ]);
  expect(approved).toEqual([]);
});

it('takes an approver to resume, who names the operator that proposed it', async () => {
  const { ask, approved } = open(accept('kofi'), accept(null));
  expect(await ask('operator', { approves: 'kofi' })).toMatchObject([403, { code: 'role_required' }]);
  expect(await ask('approver', { approves: ' ' })).toMatchObject([400, { message: 'approves is required' }]);
  expect(approved).toEqual([]);
  expect(await ask('approver', { approves: 'kofi' })).toEqual([200, { resumed: true }]);
  expect(approved).toEqual([{ by: 'an-approver', approves: 'kofi', pausedAt: new Date(pause.pausedAt) }]);
});

it('takes the time of the pause that was seen, to propose and to approve', async () => {
  const { ask, approved } = open(accept('an-operator'), accept(null));
  for (const body of [{}, { approves: 'kofi' }])
    expect(await ask('approver', { ...body, pausedAt: undefined })).toMatchObject([
      400,
      { message: expect.stringMatching(/^pausedAt/) as unknown },
    ]);
  expect(approved).toEqual([]);
  const { ask: later } = open(refuse('pause.changed'), refuse('pause.changed'));
  for (const body of [{}, { approves: 'kofi' }])
    expect(await later('approver', body)).toMatchObject([409, { code: 'changed' }]);
});

it.each([
  ['pause.unknown', 404, 'not_found'],
  ['pause.same_operator', 403, 'same_operator'],
  ['pause.not_proposed', 409, 'not_proposed'],
] as const)('answers %s with %i %s', async (refusal, status, code) => {
  const { ask } = open(refuse('pause.unknown'), refuse(refusal));
  expect(await ask('approver', { approves: 'kofi' })).toMatchObject([status, { code }]);
  expect(await ask('operator', {})).toMatchObject([404, { code: 'not_found' }]);
});
