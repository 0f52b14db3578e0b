import type { MessagingService } from '@pesewa/contracts';
import { messageOf } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';

/** The items of several services. */
export interface Answers<Item> {
  readonly items: readonly Item[];
  /** The services that gave no answer, and why. */
  readonly missing: readonly { readonly service: MessagingService; readonly why: string }[];
}

/** Asks services at once; the items of the others are given even if one does not answer. */
export async function askServices<Service extends MessagingService, Item>(
  services: readonly Service[],
  ask: (service: Service) => Promise<readonly Item[]>,
): Promise<Answers<Item>> {
  const answers = await Promise.allSettled(services.map(ask));
  const items = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const missing = services.flatMap((service, index) => {
    const answer = answers[index];
    return answer?.status === 'rejected' ? [{ service, why: messageOf(answer.reason) }] : [];
  });
  return { items, missing };
}

/** Fails the command if a service gave no answer. */
export function requireAllAnswers({ missing }: Pick<Answers<unknown>, 'missing'>): void {
  const [first] = missing;
  if (first)
    throw new CliError(`no answer from ${missing.map(({ service }) => service).join(', ')}: ${first.why}`);
}
