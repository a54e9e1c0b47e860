/* Where the bytes of a region lie; the twin of geometry.py. */

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void geometry_of(const operand_t *region, const int64_t *value, geometry_t *made) {
  int32_t rank = region->rank, count = rank;
  const int64_t *number = value + region->first;
  int64_t size = region->itemsize, elements = 1, run = size;
  dimension_t dimension[MOST_RANK];
  made->offset = number[0];
  made->itemsize = size;
  made->rank = rank;
  made->dimensions = 0;
  made->run = 0;
  made->runs = 0;
  made->high = made->offset;
  for (int32_t axis = 0; axis < rank; axis++) {
    int64_t extent = number[1 + axis] > 0 ? number[1 + axis] : 0, stride = number[1 + rank + axis] * size;
    made->shape[axis] = extent;
    made->stride[axis] = stride;
    dimension[axis].extent = extent;
    dimension[axis].stride = stride;
    elements *= extent;
  }
  made->elements = elements;
  if (!elements) return;
  if (region->block_rows) {
    dimension_t *rows = &dimension[rank - 2], *columns = &dimension[rank - 1];
    int64_t block = (int64_t)region->block_rows * region->block_columns;
    int64_t down = ceil_div(rows->extent, region->block_rows), across = ceil_div(columns->extent, region->block_columns);
    elements = elements / (rows->extent * columns->extent) * down * across * block;
    rows->extent = down;
    columns->extent = across;
    run = block * size;
    made->elements = elements;
  }
  for (int32_t axis = 0; axis < count; axis++)
    if (dimension[axis].stride < 0) {
      made->offset += (dimension[axis].extent - 1) * dimension[axis].stride;
      dimension[axis].stride = -dimension[axis].stride;
    }
  dimension_t kept[MOST_RANK];
  int32_t kept_count = 0;
  for (int32_t axis = count - 1; axis >= 0; axis--) {
    int64_t extent = dimension[axis].extent, stride = dimension[axis].stride;
    if (extent == 1 || stride == 0) continue;
    if (!kept_count && stride == run)
      run *= extent;
    else if (kept_count && stride == kept[kept_count - 1].extent * kept[kept_count - 1].stride)
      kept[kept_count - 1].extent *= extent;
    else
      kept[kept_count++] = dimension[axis];
  }
  made->run = run;
  made->runs = 1;
  made->high = made->offset + run;
  made->dimensions = kept_count;
  for (int32_t axis = 0; axis < kept_count; axis++) {
    made->dimension[axis] = kept[kept_count - 1 - axis];
    made->runs *= made->dimension[axis].extent;
    made->high += (made->dimension[axis].extent - 1) * made->dimension[axis].stride;
  }
}

/* Walks over the starts of runs without dividing. */
typedef struct {
  const geometry_t *region;
  int64_t start, place[MOST_RANK], left;
} walk_t;

static walk_t walk_over(const geometry_t *region) {
  walk_t walk = {region, region->offset, {0}, region->runs};
  return walk;
}

static void step_on(walk_t *walk) {
  const geometry_t *region = walk->region;
  walk->left--;
  for (int32_t axis = region->dimensions - 1; axis >= 0; axis--) {
    walk->start += region->dimension[axis].stride;
    if (++walk->place[axis] < region->dimension[axis].extent) return;
    walk->start -= region->dimension[axis].extent * region->dimension[axis].stride;
    walk->place[axis] = 0;
  }
}

/* Whether any byte from low to before high belongs to the region: axes from `axis` on, beginning at `offset`. */
static bool meets(const geometry_t *region, int32_t axis, int64_t offset, int64_t low, int64_t high) {
  if (axis == region->dimensions) return offset < high && low < offset + region->run;
  int64_t width = region->run;
  for (int32_t inner = axis + 1; inner < region->dimensions; inner++)
    width += (region->dimension[inner].extent - 1) * region->dimension[inner].stride;
  for (int64_t index = 0; index < region->dimension[axis].extent; index++) {
    int64_t start = offset + index * region->dimension[axis].stride;
    if (start >= high && region->dimension[axis].stride > 0) return false;
    if (start + width <= low) continue;
    if (meets(region, axis + 1, start, low, high)) return true;
  }
  return false;
}

static bool overlap(const geometry_t *a, const geometry_t *b) {
  if (a->offset >= b->high || b->offset >= a->high) return false;
  if (a->runs == 1 && b->runs == 1) return true;
  const geometry_t *few = a->runs <= b->runs ? a : b, *many = few == a ? b : a;
  for (walk_t walk = walk_over(few); walk.left; step_on(&walk))
    if (meets(many, 0, many->offset, walk.start, walk.start + few->run)) return true;
  return false;
}

static bool same_runs(const geometry_t *a, const geometry_t *b) {
  if (a->offset != b->offset || a->run != b->run || a->dimensions != b->dimensions) return false;
  for (int32_t axis = 0; axis < a->dimensions; axis++)
    if (a->dimension[axis].extent != b->dimension[axis].extent || a->dimension[axis].stride != b->dimension[axis].stride)
      return false;
  return true;
}
