import { checkStatusError, checkStatusRequest, checkStatusResponse } from '@pesewa/contracts';
import { type RejectedStatus, viewRejected, viewStatus } from './answers.ts';
import { type DocumentedAnswer, defineOperation } from './api-operation.ts';

const path = '/collection/v1/check-status';
const exampleAtMs = Date.UTC(2026, 0, 15, 12);

const rejections = {
  400: 'refused: the request is malformed, X-module, X-business or X-app is missing or wrong, or the key is not for collections',
  429: 'too many requests: Retry-After says when to come again',
  500: 'something broke on our side',
  503: 'not known at present: ask again',
} satisfies Partial<Record<RejectedStatus, string>>;

/** The rejections of an operation, each in four fields. */
export function rejectionsOf(rejectedPath: string, malformed = rejections[400]) {
  return Object.fromEntries(
    Object.entries({ ...rejections, 400: malformed }).map(
      ([status, description]): [string, DocumentedAnswer] => {
        const code = Number(status) as RejectedStatus;
        const examples = { rejected: viewRejected(code, rejectedPath, exampleAtMs) };
        return [status, { description, schema: checkStatusError, examples, retryAfter: code === 429 }];
      },
    ),
  );
}

/** The operation that gives a collection's status (contract 4.9). */
export const statusOperations = {
  checkStatus: defineOperation({
    path,
    operationId: 'checkCollectionStatus',
    tag: 'Status',
    summary: 'Collection status',
    description:
      'Where a collection stands, by your reference, else by ours. Any `requestType` will do, and any country code: the ' +
      'reference alone is looked for, among your own collections.',
    request: {
      module: { of: '`transactionReference`', example: 'order-2031' },
      schema: checkStatusRequest,
      examples: {
        check: {
          requestHeader: { clientId: '', requestType: 'GH-Collections' },
          transactionReference: 'order-2031',
          transactionCountry: 'GH',
        },
      },
    },
    answers: {
      200: {
        description:
          '`09` it goes on; `00` the customer has paid; `06` it failed or expired; `25` there is no such collection',
        schema: checkStatusResponse,
        examples: {
          'it goes on': viewStatus('pending'),
          paid: viewStatus('completed'),
          failed: viewStatus('failed'),
          unknown: viewStatus('notFound'),
        },
      },
      ...rejectionsOf(path),
    },
  }),
};
