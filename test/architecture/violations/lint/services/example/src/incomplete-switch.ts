type State = 'open' | 'paid';

export const describeState = (state: State): string => {
  switch (state) {
    case 'open':
      return 'waiting';
  }
  return '';
};
