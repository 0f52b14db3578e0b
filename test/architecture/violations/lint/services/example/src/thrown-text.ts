export const refuse = (): never => {
  throw 'no';
};
