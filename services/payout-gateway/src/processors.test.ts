import { describe, expect, it } from 'vitest';
import { openTestProcessors, processor, type Script } from './processors.fixture.ts';

const nigeria = { country: 'NGA', currency: 'NGN', channel: 'Bank Transfer' } as const;
const works: Script = { processors: [processor('058'), processor('OFF', { active: false })] };
const other: Script = {
  processors: [
    processor('044'),
    processor('OFF'),
    processor('BLOCKED', { blockTransaction: true }),
    processor('68', { country: 'KEN', currency: 'KES' }),
  ],
};
const listing = (rail: string, script: Script, country = 'NGA') => ({
  country,
  rail,
  fetchedAt: new Date(Date.UTC(2025, 0, 1)),
  processors: script === 'broken' || script === 'silent' ? [] : script.processors,
});

describe('routing by processor', () => {
  it.each([
    ['058', { kind: 'routed', rail: 'first' }],
    ['044', { kind: 'routed', rail: 'second' }],
    ['OFF', { kind: 'routed', rail: 'second' }],
    ['BLOCKED', { kind: 'noProcessor', why: 'blocked' }],
    ['68', { kind: 'noProcessor', why: 'unknown' }],
    ['nowhere', { kind: 'noProcessor', why: 'unknown' }],
  ])('%s: %j', async (bankCode, routing) => {
    await using gateway = (await openTestProcessors({ first: works, second: other })).processors;
    expect(await gateway.route({ ...nigeria, bankCode })).toEqual(routing);
  });

  it('takes only rails that serve the channel', async () => {
    await using gateway = (await openTestProcessors({ first: works, second: other })).processors;
    const mobile = { ...nigeria, channel: 'Mobile Money' } as const;
    expect(await gateway.route({ ...mobile, bankCode: '058' })).toEqual({
      kind: 'noProcessor',
      why: 'unknown',
    });
    expect(await gateway.route({ ...nigeria, currency: 'KES', bankCode: '058' })).toEqual({
      kind: 'noRoute',
    });
  });

  it('says inactive where no rail has it active', async () => {
    await using gateway = (await openTestProcessors({ first: works, second: { processors: [] } })).processors;
    expect(await gateway.route({ ...nigeria, bankCode: 'OFF' })).toEqual({
      kind: 'noProcessor',
      why: 'inactive',
    });
  });

  it('asks no rail once it knows', async () => {
    const { processors, asked } = await openTestProcessors({ first: works, second: other });
    await using gateway = processors;
    await gateway.route({ ...nigeria, bankCode: '058' });
    await expect.poll(() => asked).toHaveLength(3);
    for (let turn = 0; turn < 100; turn += 1) await gateway.route({ ...nigeria, bankCode: 'nowhere' });
    expect(asked.toSorted()).toEqual([
      'first /banks?country=NGA',
      'second /banks?country=KEN',
      'second /banks?country=NGA',
    ]);
  });

  it('is undecided while a rail that might have it has never answered', async () => {
    await using gateway = (await openTestProcessors({ first: works, second: 'broken' })).processors;
    expect(await gateway.route({ ...nigeria, bankCode: '058' })).toEqual({ kind: 'routed', rail: 'first' });
    expect(await gateway.route({ ...nigeria, bankCode: '044' })).toEqual({ kind: 'unavailable' });
  });
});

describe('the lists of rails', () => {
  it('are united, each processor once, as a rail has it that can pay there', async () => {
    const { processors, saved } = await openTestProcessors({ first: works, second: other });
    await using gateway = processors;
    const list = await gateway.list('NGA');
    expect(list?.map(({ code, active }) => `${code} ${active}`)).toEqual([
      '058 true',
      'OFF true',
      '044 true',
      'BLOCKED true',
    ]);
    expect(await gateway.list('FRA')).toEqual([]);
    await expect.poll(() => saved.map(({ rail, country }) => `${country} ${rail}`)).toHaveLength(3);
  });

  it('of an earlier process are served while the rails are down', async () => {
    const { processors } = await openTestProcessors({ first: 'silent', second: 'broken' }, [
      listing('first', works),
      listing('second', other),
    ]);
    await using gateway = processors;
    expect((await gateway.list('NGA'))?.map(({ code }) => code)).toContain('058');
    expect(await gateway.route({ ...nigeria, bankCode: '058' })).toEqual({ kind: 'routed', rail: 'first' });
  });

  it('are unknown if no rail has ever answered; one question at a time, and not again at once', async () => {
    const { processors, asked, advance } = await openTestProcessors({ first: 'broken', second: 'broken' });
    await using gateway = processors;
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.list('NGA')));
    expect(new Set(answers)).toEqual(new Set([undefined]));
    expect(await gateway.list('NGA')).toBeUndefined();
    const nigerian = () => asked.filter((question) => question.endsWith('NGA'));
    expect(nigerian()).toHaveLength(2);
    advance(1_000);
    await expect.poll(() => nigerian().length).toBeGreaterThan(2);
  });

  it('do not let a request wait for ever', async () => {
    const { processors, advance } = await openTestProcessors({ first: 'silent', second: 'silent' });
    await using gateway = processors;
    const answer = gateway.route({ ...nigeria, bankCode: '058' });
    advance(5_000);
    expect(await answer).toEqual({ kind: 'unavailable' });
  });

  it('are renewed in the background when their time has passed; a rail that fails then keeps its old list', async () => {
    const scripts: Record<string, Script> = { first: works, second: other };
    const { processors, asked, saved, advance } = await openTestProcessors(scripts);
    await using gateway = processors;
    await expect.poll(() => saved).toHaveLength(3);
    scripts['first'] = { processors: [processor('NEW')] };
    scripts['second'] = 'broken';
    advance(299_000);
    expect(asked).toHaveLength(3);
    advance(1_000);
    const savedLater = () => {
      advance(500);
      return saved;
    };
    await expect.poll(savedLater).toHaveLength(4);
    expect(await gateway.route({ ...nigeria, bankCode: 'NEW' })).toEqual({ kind: 'routed', rail: 'first' });
    expect(await gateway.route({ ...nigeria, bankCode: '058' })).toEqual({
      kind: 'noProcessor',
      why: 'unknown',
    });
    expect(await gateway.route({ ...nigeria, bankCode: '044' })).toEqual({ kind: 'routed', rail: 'second' });
  });
});
