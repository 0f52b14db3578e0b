/** A reason why a service must not start, and what to do about it. */
export interface StartProblem {
  readonly message: string;
  readonly remedy: string;
}

/** The result of the checks before a start: problems that forbid it, and facts that the server does not report. */
export interface StartCheckResult {
  readonly problems: readonly StartProblem[];
  /** Facts that could not be checked, each as a sentence. */
  readonly unchecked: readonly string[];
}

/** A topic as Kafka has it. */
export interface FoundTopic {
  readonly name: string;
  /** The replicas of the partition that has the fewest. */
  readonly replicas: number;
  /** Undefined if the brokers do not report them. */
  readonly settings: { readonly minInSync: number; readonly electsUnclean: boolean } | undefined;
}

/** How many brokers keep each message, so that one may be lost while another is down for maintenance. */
export const REPLICAS_MIN = 3;
/** How many brokers must have a message before it counts as sent. */
export const IN_SYNC_MIN = 2;

const PREPARE = 'run `pesewa prepare`; where the topic is there, allow this user to describe it';
const REASSIGN = 'raise it by kafka-reassign-partitions, or by replicas of its KafkaTopic';
const CONFIGURE = (setting: string) => `set ${setting} on the topic by kafka-configs, or in its KafkaTopic`;
const ALLOW = 'allow this user DescribeConfigs on it, or compare the settings by hand';

/** Checks that messages of these topics survive the loss of a broker; the topics are given by full name. */
export function checkTopics(wanted: readonly string[], found: readonly FoundTopic[]): StartCheckResult {
  const byName = new Map(found.map((topic) => [topic.name, topic]));
  const unchecked = found.filter(({ name, settings }) => wanted.includes(name) && settings === undefined);
  return {
    problems: wanted.flatMap((name) => {
      const topic = byName.get(name);
      return topic
        ? problemsOf(topic)
        : [{ message: `Kafka: the topic ${name} does not exist`, remedy: PREPARE }];
    }),
    unchecked: unchecked.map(
      ({ name }) =>
        `Kafka: min.insync.replicas and unclean.leader.election.enable of ${name} are not known: ${ALLOW}`,
    ),
  };
}

function problemsOf({ name, replicas, settings }: FoundTopic): readonly StartProblem[] {
  const problem = (isOne: boolean, message: string, remedy: string): readonly StartProblem[] =>
    isOne ? [{ message: `Kafka: the topic ${name} ${message}`, remedy }] : [];
  return [
    ...problem(
      replicas < REPLICAS_MIN,
      `has ${replicas} replicas, and needs ${REPLICAS_MIN}: messages are lost with a broker`,
      REASSIGN,
    ),
    ...problem(
      settings !== undefined && settings.minInSync < IN_SYNC_MIN,
      `has min.insync.replicas=${settings?.minInSync}, and needs ${IN_SYNC_MIN}: one broker alone can confirm a message`,
      CONFIGURE(`min.insync.replicas=${IN_SYNC_MIN}`),
    ),
    ...problem(
      settings?.electsUnclean === true,
      'elects unclean leaders: a broker that lacks confirmed messages can become the one that counts',
      CONFIGURE('unclean.leader.election.enable=false'),
    ),
  ];
}
