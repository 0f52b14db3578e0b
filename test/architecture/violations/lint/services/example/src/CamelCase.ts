export const name = 'camel';
