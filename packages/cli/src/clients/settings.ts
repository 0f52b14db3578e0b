import {
  type AnswerOf,
  type CallOf,
  type ChangeKind,
  type ChangeView,
  changeOperations,
  dryRunOf,
  type FieldChangeView,
  settingsOperations,
  type TakenChangeView,
} from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';

/** A change that is asked for: its kind, and what that takes. */
export type WantedChange = {
  readonly [Kind in ChangeKind]: { readonly kind: Kind } & Pick<
    CallOf<(typeof changeOperations)[Kind]>,
    'body'
  >;
}[ChangeKind];

/** Builds the client of merchants' settings (ADR 80): changed by two operators, with a history. */
export function createSettingsClient({ call, list }: Caller) {
  const { merchant, show, approve, reject } = settingsOperations;
  // The kind and what it takes belong together by their type.
  type Any = (typeof changeOperations)['limits'];
  const operationOf = (kind: ChangeKind) => changeOperations[kind] as unknown as Any;
  return {
    merchant: (merchantId: string) => call('ledger', merchant, { parameters: { merchantId } }),
    foresee: async (
      merchantId: string,
      { kind, body }: WantedChange,
    ): Promise<readonly FieldChangeView[]> => {
      const asked = { parameters: { merchantId }, body: { ...body, dryRun: true } };
      return (await call('ledger', dryRunOf(operationOf(kind)), asked as never)).fields;
    },
    take: async (merchantId: string, { kind, body }: WantedChange): Promise<TakenChangeView> => {
      const given = { parameters: { merchantId }, body } as CallOf<Any>;
      return (await call('ledger', operationOf(kind), given)) satisfies AnswerOf<Any>;
    },
    show: (id: string): Promise<ChangeView> => call('ledger', show, { parameters: { id } }),
    approve: (id: string): Promise<ChangeView> => call('ledger', approve, { parameters: { id } }),
    reject: (id: string, reason: string): Promise<ChangeView> =>
      call('ledger', reject, { parameters: { id }, body: { reason } }),
    /** The newest first, at most `limit`. */
    list: async (
      query: { readonly status?: ChangeView['status'] | undefined; readonly merchant?: string | undefined },
      limit: number,
    ) => (await list('ledger', settingsOperations.list, query, limit)).items,
  };
}
