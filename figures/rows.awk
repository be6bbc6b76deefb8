# SPDX-License-Identifier: Apache-2.0
#
# The panel of a table that a query made (figures/*.sql): its rows as they are.

NR > 1 { text = text $0 "\n"; n++ }
END { printf "n = %d\n$rows << EOD\n%sEOD\n", n, text }
