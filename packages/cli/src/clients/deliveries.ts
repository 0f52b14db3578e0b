import { type AnswerOf, type CallOf, type DeliveryView, deliveryOperations } from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';

/** Which webhooks are listed. */
export type DeliveryFilter = Omit<NonNullable<CallOf<typeof deliveryOperations.list>['query']>, 'after'>;

/** The webhooks after one of the list, page by page. */
export async function* pagesOfDeliveries(
  { call }: Pick<Caller, 'call'>,
  filter: DeliveryFilter,
  after?: string,
): AsyncGenerator<readonly DeliveryView[]> {
  let cursor: string | null | undefined = after;
  while (cursor !== null) {
    const page: AnswerOf<typeof deliveryOperations.list> = await call(
      'webhook-dispatcher',
      deliveryOperations.list,
      {
        query: { ...filter, after: cursor },
      },
    );
    yield page.items;
    cursor = page.next;
  }
}

/** Up to `limit` webhooks, and whether there are more. */
export async function collectDeliveries(
  caller: Pick<Caller, 'call'>,
  filter: DeliveryFilter,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<{ readonly items: readonly DeliveryView[]; readonly hasMore: boolean }> {
  const items: DeliveryView[] = [];
  for await (const page of pagesOfDeliveries(caller, filter, after)) {
    items.push(...page);
    if (items.length > limit) break;
  }
  return { items: items.slice(0, limit), hasMore: items.length > limit };
}
