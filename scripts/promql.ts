import { parser } from '@prometheus-io/lezer-promql';

type Node = ReturnType<typeof parser.parse>['topNode'];

/** Values for Grafana's variables, for a parser that does not know them. */
const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/\$__rate_interval\b|\$__interval\b|\$__range\b/g, '5m'],
  [/\$\{?\w+\}?/g, 'any'],
];

/** An expression of a dashboard as Prometheus gets it, whatever is selected there. */
export function withoutVariables(text: string): string {
  return VARIABLES.reduce((before, [variable, value]) => before.replaceAll(variable, value), text);
}

/** Functions over a range of time, which the grammar alone would accept without one. */
const OVER_TIME = /^(?:rate|irate|increase|delta|idelta|deriv|changes|resets|\w+_over_time)$/;

/** A parsed expression of Prometheus. */
export interface Expression {
  /** The names of the series that it reads. */
  readonly metrics: readonly string[];
  /** What is wrong with it; empty if it is valid. */
  readonly problems: readonly string[];
}

/** Whether a node is a range of time, with any end. */
function spansTime(node: Node): boolean {
  if (node.getChild('MatrixSelector') ?? node.getChild('SubqueryExpr')) return true;
  const shifted = node.getChild('OffsetExpr') ?? node.getChild('StepInvariantExpr');
  return shifted !== null && spansTime(shifted);
}

/** Parses an expression, with a dashboard's variables or without. */
export function readExpression(text: string): Expression {
  const expression = withoutVariables(text);
  const metrics = new Set<string>();
  const problems: string[] = [];
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }) => expression.slice(from, to);
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError)
        problems.push(`can't be read at "${expression.slice(node.from, node.from + 20)}"`);
      if (node.name === 'VectorSelector') {
        const name = node.node.getChild('Identifier');
        if (name) metrics.add(textOf(name));
        else problems.push(`names no metric in "${textOf(node)}"`);
      }
      if (node.name !== 'FunctionCall') return;
      const called = node.node.getChild('FunctionIdentifier');
      const asked = node.node.getChild('FunctionCallBody');
      if (called && OVER_TIME.test(textOf(called)) && !(asked && spansTime(asked)))
        problems.push(`${textOf(called)} needs a span of time`);
    },
  });
  if (metrics.size === 0 && problems.length === 0) problems.push('asks for no metric');
  return { metrics: [...metrics], problems };
}
