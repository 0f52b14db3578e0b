import {
  type DatabaseName,
  type MessagingService,
  services,
  type Topic,
  type TopicName,
  topics,
} from '@pesewa/contracts';
import type { Db } from 'mongodb';
import type { Progress } from './inbox/progress.ts';
import type { TopicHandler } from './inbox/topic-handler.ts';
import type { TopicHistory } from './inbox/topic-history.ts';

/**
 * What a service does between MongoDB and Kafka. A part that is left out is not limited, for tests that play a service.
 */
export interface MessagingRole {
  /** The service's name, which is also its consumer group. */
  readonly service: string;
  readonly database: string;
  readonly produces: readonly TopicName[];
  readonly consumes?: readonly TopicName[];
  readonly readsOutsideGroup?: readonly TopicName[];
  readonly alsoWrites?: DatabaseName;
  readonly readsDatabases?: readonly DatabaseName[];
  readonly asksProgressOf?: readonly string[];
  /**
   * Whether the process becomes ready only once it has joined its consumer group: for a service that only operators
   * call.
   */
  readonly readyOnceJoined?: boolean;
}

/** The declared role of a service. */
export function roleOf(service: MessagingService): MessagingRole {
  const { isPublic, messaging } = services[service];
  return { service, readyOnceJoined: !isPublic, ...messaging };
}

/** The topics that a role writes to. */
export function topicsWritten({ produces }: Pick<MessagingRole, 'produces'>): readonly Topic[] {
  return produces.map((name) => topics[name]);
}

/** Throws if the handlers' topics are not those that the role consumes, because the rights in Kafka follow the role. */
export function checkHandlers(role: MessagingRole, handlers: readonly Pick<TopicHandler, 'topic'>[]): void {
  if (!role.consumes) return;
  const list = (names: readonly TopicName[]) => names.toSorted().join(', ') || 'nothing';
  const handled = list(handlers.map(({ topic }) => topic));
  const declared = list(role.consumes);
  if (handled !== declared) {
    throw new Error(`${role.service} consumes ${handled}, and is declared to consume ${declared}`);
  }
}

interface Limited extends TopicHistory, Progress {
  readonly database: (name: string) => Db;
}

/** Limits access to the databases, topics and groups that a role declares; any other use throws. */
export function limitTo(role: MessagingRole, all: Limited): Limited {
  const { service, produces, consumes, readsOutsideGroup, alsoWrites, readsDatabases, asksProgressOf } = role;
  const check = (allowed: readonly string[] | undefined, name: string, what: string) => {
    if (allowed && !allowed.includes(name)) throw new Error(`${service} is not declared to ${what} ${name}`);
  };
  const databases = readsDatabases && [role.database, ...(alsoWrites ? [alsoWrites] : []), ...readsDatabases];
  const groups = asksProgressOf && [service, ...asksProgressOf];
  const readable = consumes && [...consumes, ...(readsOutsideGroup ?? [])];
  const checkTopics = (names: readonly TopicName[]) => {
    for (const name of names) check(readable && [...readable, ...produces], name, 'ask the ends of');
  };
  return {
    database: (name) => {
      check(databases, name, 'read the database');
      return all.database(name);
    },
    since: (topic, partition, timeMs) => {
      check(readable, topic, 'read');
      return all.since(topic, partition, timeMs);
    },
    caughtUp: async (names, timeoutMs) => {
      checkTopics(names);
      return all.caughtUp(names, timeoutMs);
    },
    ends: async (names, timeoutMs) => {
      checkTopics(names);
      return all.ends(names, timeoutMs);
    },
    hasApplied: async (group, ends, timeoutMs) => {
      check(groups, group, 'ask for the progress of');
      return all.hasApplied(group, ends, timeoutMs);
    },
  };
}
