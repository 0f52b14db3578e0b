import { openInfrastructure } from '@pesewa/infrastructure';

export const kind = typeof openInfrastructure;
