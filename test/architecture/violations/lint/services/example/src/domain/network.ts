export const call = (url: string): Promise<Response> => fetch(url);
