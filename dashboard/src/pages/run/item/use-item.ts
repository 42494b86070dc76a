// The open item. Its neighbours are prefetched for instant navigation.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type ItemsFilter, itemQuery } from '../../../api/queries';

/** `key` is empty if no item is open. */
export function useItem(id: string, key: string, filter: ItemsFilter) {
  const client = useQueryClient();
  const item = useQuery({ ...itemQuery(id, key, filter), enabled: key !== '' });
  const { previous, next } = item.data ?? {};
  useEffect(() => {
    for (const neighbour of [next, previous]) {
      if (neighbour != null) void client.prefetchQuery(itemQuery(id, neighbour, filter));
    }
  }, [client, id, filter, next, previous]);
  return item;
}
