#!/bin/sh
# till.sh PRICE... — prints the total of a basket, in cents.

DISCOUNT_FROM=10000
DISCOUNT_PERCENT=10

total=0
for price in "$@"; do
    total=$((total + price))
done

# Large baskets get a discount.
if [ "$total" -gt "$DISCOUNT_FROM" ]; then
    total=$((total - total * DISCOUNT_PERCENT / 100))
fi

echo "$total"
