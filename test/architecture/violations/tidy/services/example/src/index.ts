export const door = 'services have none';
