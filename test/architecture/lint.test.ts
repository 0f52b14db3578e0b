import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThrowawayRepository, type ThrowawayRepository } from './throwaway-repository.ts';

/**
 * What the linter must say about each file of `violations/lint`, complete: a file not named here must be clean.
 * A name without a package is a file of `services/example/src`.
 */
const expected = {
  'packages/kafka/src/testkit-user.ts': ['eslint(no-restricted-imports)'],
  'packages/runtime/src/cli-user.ts': ['eslint(no-restricted-imports)'],
  'packages/runtime/src/infrastructure-user.ts': ['eslint(no-restricted-imports)'],
  'packages/runtime/src/kafka-user.ts': ['eslint(no-restricted-imports)'],
  'packages/runtime/src/stack-user.ts': ['eslint(no-restricted-imports)'],
  'packages/runtime/src/testkit-user.ts': ['eslint(no-restricted-imports)'],
  'CamelCase.ts': ['unicorn(filename-case)'],
  'awaited-value.ts': ['typescript(await-thenable)'],
  'cli-user.ts': ['eslint(no-restricted-imports)'],
  'cycle-one.ts': ['import(no-cycle)'],
  'cycle-two.ts': ['import(no-cycle)'],
  'default-export.ts': ['import(no-default-export)'],
  'domain/chance.ts': ['eslint(no-restricted-properties)'],
  'domain/clock.ts': ['eslint(no-restricted-globals)'],
  'domain/crypto-user.ts': ['eslint(no-restricted-globals)'],
  'domain/network.ts': ['eslint(no-restricted-globals)'],
  'domain/outside-import.ts': ['eslint(no-restricted-imports)'],
  'domain/outside-type.ts': ['eslint(no-restricted-imports)'],
  'domain/process-user.ts': ['eslint(no-restricted-globals)'],
  'domain/timer.ts': ['eslint(no-restricted-globals)'],
  'environment-reader.ts': ['node(no-process-env)'],
  'explicit-any.ts': ['typescript(no-explicit-any)'],
  'floating-promise.ts': ['typescript(no-floating-promises)'],
  'incomplete-switch.ts': ['typescript(switch-exhaustiveness-check)'],
  'infrastructure-user.ts': ['eslint(no-restricted-imports)'],
  'kafka-user.ts': ['eslint(no-restricted-imports)'],
  'left-out.test.ts': ['vitest(no-disabled-tests)', 'vitest(no-focused-tests)', 'vitest(warn-todo)'],
  'long-file.ts': ['eslint(max-lines)'],
  'long-function.ts': ['eslint(max-lines-per-function)'],
  'main.ts': ['eslint(max-lines)'],
  'misused-promise.ts': ['typescript(no-misused-promises)'],
  'mongo-opener.ts': ['eslint(no-restricted-imports)'],
  'non-null-assertion.ts': ['typescript(no-non-null-assertion)'],
  'stack-user.ts': ['eslint(no-restricted-imports)'],
  'testkit-user.ts': ['eslint(no-restricted-imports)'],
  'thrown-text.ts': ['typescript(only-throw-error)'],
  'type-cycle-one.ts': ['import(no-cycle)'],
  'type-cycle-two.ts': ['import(no-cycle)'],
  'unproven.test.ts': ['vitest(expect-expect)'],
  'unsafe-value.ts': ['typescript(no-unsafe-member-access)', 'typescript(no-unsafe-return)'],
} as const;

const reportPattern = /x ([a-z]+\([\w-]+\)).*\n\s*,-\[(?:services\/example\/src\/)?(.+?):\d+:\d+\]/g;

describe('lint', () => {
  let repository: ThrowawayRepository;
  const reported = new Map<string, Set<string>>();
  let passed = true;

  beforeAll(async () => {
    repository = await openThrowawayRepository('lint');
    const verdict = await repository.runGuard('lint');
    passed = verdict.passed;
    for (const [, rule = '', file = ''] of verdict.output.matchAll(reportPattern)) {
      reported.set(file, (reported.get(file) ?? new Set()).add(rule));
    }
  });

  afterAll(() => repository[Symbol.asyncDispose]());

  it.each(Object.entries(expected))('reports %s', (file, rules) => {
    expect([...(reported.get(file) ?? [])].sort()).toEqual(rules);
  });

  it('fails on them, and reports no file that keeps the rules', () => {
    expect(passed).toBe(false);
    expect([...reported.keys()].sort()).toEqual(Object.keys(expected).sort());
  });
});
