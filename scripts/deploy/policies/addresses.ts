import { isIP } from 'node:net';

/** The bits of an address. */
function bitsOf(address: string): string {
  if (isIP(address) === 4)
    return address
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('');
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [
    ...groups(head),
    ...(address.includes('::') ? Array<string>(missing).fill('0') : []),
    ...groups(tail),
  ];
  return all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('');
}

/** Whether an address lies in a range. */
export const contains = (range: string, address: string): boolean => {
  const [base = '', length = ''] = range.split('/');
  return (
    isIP(base) === isIP(address) &&
    bitsOf(base).slice(0, Number(length)) === bitsOf(address).slice(0, Number(length))
  );
};
