/** What became of a payment in a close, in the words of people; the codes stay in files and in the operators' API. */
export function describeCloseResult(result: string): string {
  return result === 'missing_there' ? 'not at the rail' : result.replaceAll('_', ' ');
}

/** What became of a line or a payment in a rail's statement, in the words of people. */
export function describeStatementResult(result: string): string {
  if (result === 'missing_here') return 'not in our books';
  return result === 'missing_there' ? "not on the rail's statement" : result.replaceAll('_', ' ');
}
