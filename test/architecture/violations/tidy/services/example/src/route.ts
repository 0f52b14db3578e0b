export const addRoute = (operator: { post: (path: string) => void }): void => operator.post('/things');
